"""Authentication by bearer token, and authorization by RBAC rules.

A token is issued here with its own rules, or by a TokenRequest for a service account, which has the rights of the Roles
bound to it in the store.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lab.kubernetes.api import documents, refusals
from lab.kubernetes.api.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, Kind
from lab.kubernetes.storage.store import Key, Store

ANY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One RBAC rule. `resources` may name subresources (`jobs/status`); without `names` it allows every object."""

    verbs: tuple[str, ...]
    resources: tuple[str, ...]
    groups: tuple[str, ...] = (ANY,)
    names: tuple[str, ...] = ()
    namespace: str = ""

    @classmethod
    def of_role(cls, rule: Mapping[str, Any], namespace: str) -> "Rule":
        return cls(
            verbs=tuple(rule.get("verbs") or ()),
            resources=tuple(rule.get("resources") or ()),
            groups=tuple(rule.get("apiGroups") or ()),
            names=tuple(rule.get("resourceNames") or ()),
            namespace=namespace,
        )

    def allows(self, attributes: "Attributes") -> bool:
        return (
            _covers(self.verbs, attributes.verb)
            and (_covers(self.resources, attributes.resource) or f"*/{attributes.subresource}" in self.resources)
            and _covers(self.groups, attributes.kind.group)
            and (not self.names or attributes.name in self.names)
            and self.namespace in ("", attributes.namespace)
        )


def _covers(allowed: tuple[str, ...], asked: str) -> bool:
    return ANY in allowed or asked in allowed


EVERYTHING = (Rule(verbs=(ANY,), resources=(ANY,)),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """What a request does, as an authorizer sees it. An empty namespace is the cluster scope."""

    verb: str
    kind: Kind
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def resource(self) -> str:
        return f"{self.kind.plural}/{self.subresource}" if self.subresource else self.kind.plural


@dataclass(frozen=True, slots=True)
class Identity:
    user: str
    groups: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()


class Access:
    """The issued tokens, and what their users may do."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._identities: dict[str, Identity] = {}
        self.admin_token = self.new_token(EVERYTHING, user="admin")

    def new_token(self, rules: Iterable[Rule], *, user: str = "somebody", groups: tuple[str, ...] = ()) -> str:
        token = secrets.token_urlsafe(24)
        self._identities[token] = Identity(user, groups, tuple(rules))
        return token

    def token_of_service_account(self, namespace: str, name: str) -> str:
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
        return self.new_token((), user=f"system:serviceaccount:{namespace}:{name}", groups=groups)

    def revoke(self, token: str) -> None:
        """The token is rejected from now on, as an expired one is."""
        self._identities.pop(token, None)

    def identify(self, authorization: str) -> Identity:
        scheme, _, token = authorization.partition(" ")
        identity = self._identities.get(token.strip()) if scheme.lower() == "bearer" else None
        if identity is None:
            raise refusals.unauthorized()
        return identity

    def is_admin(self, identity: Identity) -> bool:
        return identity is self._identities[self.admin_token]

    def allows(self, identity: Identity, attributes: Attributes) -> bool:
        return any(rule.allows(attributes) for rule in (*identity.rules, *self._bound(identity)))

    def authorize(self, identity: Identity, attributes: Attributes) -> None:
        if self.allows(identity, attributes):
            return
        where = f'in the namespace "{attributes.namespace}"' if attributes.namespace else "at the cluster scope"
        why = f'User "{identity.user}" cannot {attributes.verb} resource "{attributes.resource}"'
        why += f' in API group "{attributes.kind.group}" {where}'
        raise refusals.forbidden(attributes.kind, attributes.name, why)

    def _bound(self, identity: Identity) -> Iterator[Rule]:
        for kind in (ROLE_BINDING, CLUSTER_ROLE_BINDING):
            for binding in self._store.of_kind(kind):
                if any(_is_subject(identity, each, binding) for each in binding.get("subjects") or ()):
                    yield from self._granted(binding)

    def _granted(self, binding: documents.Object) -> Iterator[Rule]:
        """The rules of a binding's role; a RoleBinding grants them in its namespace only."""
        namespace, reference = documents.namespace(binding), binding["roleRef"]
        kind = ROLE if reference["kind"] == ROLE.name else CLUSTER_ROLE
        role = self._store.get(Key.of(kind, namespace, reference["name"])) or {}
        return (Rule.of_role(rule, namespace) for rule in role.get("rules") or ())


def _is_subject(identity: Identity, subject: Mapping[str, Any], binding: documents.Object) -> bool:
    match subject.get("kind"):
        case "ServiceAccount":
            namespace = subject.get("namespace") or documents.namespace(binding)
            return identity.user == f"system:serviceaccount:{namespace}:{subject['name']}"
        case "Group":
            return subject["name"] in identity.groups
        case _:
            return bool(identity.user == subject["name"])
