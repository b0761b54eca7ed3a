"""The questions a caller may ask about tokens and rights: a token for a service account, and "may I?"."""

from datetime import timedelta

from lab.kubernetes import documents
from lab.kubernetes.access import Access, Identity, Wish
from lab.kubernetes.addressing import Target
from lab.kubernetes.documents import Object
from lab.kubernetes.kinds import Kind
from shared import times

MAY_I_PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_TOKEN_LIFE = timedelta(hours=1)


def token(access: Access, account: Target, asked: Object) -> Object:
    """The answer to a TokenRequest."""
    given = access.token_of_service_account(account.namespace, account.name)
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"name": account.name, "namespace": account.namespace},
        "spec": asked.get("spec") or {},
        "status": {"token": given, "expirationTimestamp": times.to_seconds(times.now() + _TOKEN_LIFE)},
    }


def may_i(access: Access, identity: Identity, review: Object) -> Object:
    """The answer to a SelfSubjectAccessReview."""
    asked = documents.at(review, "spec", "resourceAttributes") or {}
    wish = Wish(
        verb=asked.get("verb", ""),
        kind=Kind(group=asked.get("group", ""), name="", plural=asked.get("resource", "")),
        subresource=asked.get("subresource", ""),
        namespace=asked.get("namespace", ""),
        name=asked.get("name", ""),
    )
    status = {"allowed": access.allows(identity, wish)}
    return {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", **review, "status": status}
