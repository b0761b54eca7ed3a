"""TokenRequest of a service account, and SelfSubjectAccessReview."""

from datetime import timedelta

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import Kind
from lab.kubernetes.api.paths import Target
from lab.kubernetes.http_api.auth import Access, Attributes, Identity
from shared import times

ACCESS_REVIEW_PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_TOKEN_LIFETIME = timedelta(hours=1)


def token(access: Access, account: Target, asked: Object) -> Object:
    """The response to a TokenRequest."""
    given = access.token_of_service_account(account.namespace, account.name)
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"name": account.name, "namespace": account.namespace},
        "spec": asked.get("spec") or {},
        "status": {"token": given, "expirationTimestamp": times.to_seconds(times.now() + _TOKEN_LIFETIME)},
    }


def access_review(access: Access, identity: Identity, review: Object) -> Object:
    """The response to a SelfSubjectAccessReview."""
    asked = documents.at(review, "spec", "resourceAttributes") or {}
    attributes = Attributes(
        verb=asked.get("verb", ""),
        kind=Kind(group=asked.get("group", ""), name="", plural=asked.get("resource", "")),
        subresource=asked.get("subresource", ""),
        namespace=asked.get("namespace", ""),
        name=asked.get("name", ""),
    )
    status = {"allowed": access.allows(identity, attributes)}
    return {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", **review, "status": status}
