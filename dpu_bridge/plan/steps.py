"""The steps that lead from a bridge to a control plane that DPUs can join. Each is pure."""

from dpu_bridge.api.bridge import LONGEST_CONTROL_PLANE_NAMESPACE
from dpu_bridge.api.conditions import APPROVING, CONTROL_PLANE, IMAGE_AVAILABLE, INJECTED, METALLB, SECRETS
from dpu_bridge.api.kinds import ADMIN_KUBECONFIG_KEY
from dpu_bridge.plan.actions import CreateEncryptionKey, Patch
from dpu_bridge.plan.binding import cluster_ref
from dpu_bridge.plan.images import Found, Missing, find_image
from dpu_bridge.plan.observed import Observed, PlanSettings
from dpu_bridge.plan.step import Step, applied, blocked, done, foreign, not_owned, waiting
from dpu_bridge.render import hosted_cluster as rendering
from dpu_bridge.render import metallb, secrets
from shared.kubernetes import version_of
from shared.model.conditions import Condition, Status

NO_NODE = "NoNodeAddress"


def image_step(observed: Observed, settings: PlanSettings) -> tuple[Step, Found | None]:
    where = f"ConfigMap {settings.images_namespace}/{settings.images_name}"
    match find_image(observed.bridge.release_image, observed.images, where):
        case Missing(reason, message):
            return blocked(IMAGE_AVAILABLE, reason, message), None
        case Found(version, image) as found:
            step = done(IMAGE_AVAILABLE, "ImageResolved", f"{version}: {image}", blueFieldContainerImage=image)
            return step, found


def secrets_step(observed: Observed) -> Step:
    """Copies are refreshed when their sources change. The encryption key is made once: another loses etcd's data."""
    bridge = observed.bridge
    name = foreign(bridge, observed.ssh_key_copy, observed.pull_secret_copy, observed.encryption_key)
    if name:
        return not_owned(SECRETS, name)
    for material in (observed.pull_secret, observed.ssh_key):
        if material.problem:
            return blocked(SECRETS, material.reason, material.problem)
    if observed.encryption_key is None and observed.hosted_cluster is not None:
        lost = f"Secret {bridge.namespace}/{secrets.encryption_key_name(bridge)} was deleted"
        remedy = "restore it from a backup; a new key cannot read etcd's data"
        return blocked(SECRETS, "EncryptionKeyLost", f"{lost}; {remedy}")
    copies = applied(
        (secrets.pull_secret(bridge, observed.pull_secret.data), observed.pull_secret_copy),
        (secrets.ssh_key(bridge, observed.ssh_key.data), observed.ssh_key_copy),
    )
    key = () if observed.encryption_key else (CreateEncryptionKey(secrets.encryption_key(bridge)),)
    return done(SECRETS, "Copied", "The pull secret and the SSH key are valid", *copies, *key)


def metallb_step(observed: Observed, settings: PlanSettings) -> Step:
    bridge, namespace = observed.bridge, settings.metallb_namespace
    if not bridge.load_balanced:
        return done(METALLB, "NotNeeded", "Services are exposed by NodePorts")
    if missing := {"IPAddressPool", "L2Advertisement"} & observed.unserved:
        return blocked(
            METALLB,
            "MetalLBNotInstalled",
            f"The API server does not serve {min(missing)}; install the MetalLB operator",
        )
    if name := foreign(bridge, observed.address_pool, observed.advertisement):
        return not_owned(METALLB, name)
    actions = applied(
        (metallb.address_pool(bridge, namespace), observed.address_pool),
        (metallb.advertisement(bridge, namespace), observed.advertisement),
    )
    return done(METALLB, "Configured", f"MetalLB announces {bridge.virtual_ip}", *actions)


def control_plane_step(observed: Observed, found: Found | None) -> Step:
    """Without a BlueField image for the release there is no new control plane, and no upgrade of one that is there."""
    bridge, present = observed.bridge, observed.hosted_cluster
    if problem := _cannot_create(observed, found):
        return problem
    if present is not None and present["metadata"].get("deletionTimestamp"):
        return blocked(CONTROL_PLANE, "Deleting", "The HostedCluster is being deleted; it is created again afterwards")
    release = bridge.release_image if found or present is None else str(present["spec"]["release"]["image"])
    cluster = rendering.hosted_cluster(
        bridge, release_image=release, node_address=observed.node_address, present=present
    )
    pairs = [(cluster, present), (rendering.node_pool(bridge, release_image=release), observed.node_pool)]
    if found:
        pairs.insert(0, (secrets.machine_config(bridge, found.image), observed.machine_config))
    ref = {"name": bridge.name, "namespace": bridge.namespace}
    return done(
        CONTROL_PLANE,
        "Applied",
        "HostedCluster and NodePool are as this bridge asks",
        *applied(*pairs),
        hostedClusterRef=ref,
    )


def _cannot_create(observed: Observed, found: Found | None) -> Step | None:
    bridge = observed.bridge
    if missing := {"HostedCluster", "NodePool"} & observed.unserved:
        remedy = "install the HyperShift operator (by MCE)"
        return blocked(
            CONTROL_PLANE, "HyperShiftNotInstalled", f"The API server does not serve {min(missing)}; {remedy}"
        )
    if name := foreign(bridge, observed.hosted_cluster, observed.node_pool, observed.machine_config):
        return not_owned(CONTROL_PLANE, name)
    if len(bridge.control_plane_namespace) > LONGEST_CONTROL_PLANE_NAMESPACE:
        limit = f"more than {LONGEST_CONTROL_PLANE_NAMESPACE} characters"
        message = (
            f"The control plane's namespace {bridge.control_plane_namespace} would have {limit}; use shorter names"
        )
        return blocked(CONTROL_PLANE, "NameTooLong", message)
    if observed.hosted_cluster is not None:
        return None
    if found is None:
        return waiting(CONTROL_PLANE, "WaitingForImage", "There is no BlueField image for the release")
    if not bridge.load_balanced and not observed.node_address:
        message = "No node of the management cluster is ready, and NodePorts need the address of one"
        return blocked(CONTROL_PLANE, NO_NODE, message)
    return None


def kubeconfig_step(observed: Observed) -> Step:
    """DPF gets the hosted cluster's kubeconfig. A DPUCluster accepts one name, once."""
    bridge, cluster = observed.bridge, observed.dpu_cluster
    admin = (observed.admin_kubeconfig or {}).get("data") or {}
    if cluster is None or not admin.get(ADMIN_KUBECONFIG_KEY):
        return waiting(INJECTED, "KubeconfigNotAvailable", "HyperShift has not made the kubeconfig yet")
    if name := foreign(bridge, observed.injected_kubeconfig):
        return not_owned(INJECTED, name)
    wanted = secrets.kubeconfig_name(bridge)
    named = str((cluster.get("spec") or {}).get("kubeconfig") or "")
    if named and named != wanted:
        remedy = 'remove it (kubectl patch dpucluster --type=merge -p \'{"spec":{"kubeconfig":null}}\')'
        message = f"DPUCluster {'/'.join(bridge.dpu_cluster)} has kubeconfig {named} of somebody else; {remedy}"
        return blocked(INJECTED, "OtherKubeconfig", message)
    copies = applied((secrets.kubeconfig(bridge, str(admin[ADMIN_KUBECONFIG_KEY])), observed.injected_kubeconfig))
    body = {"metadata": {"resourceVersion": version_of(cluster)}, "spec": {"kubeconfig": wanted}}
    set_once = () if named else (Patch(cluster_ref(bridge.dpu_cluster), body),)
    ref = {"name": wanted, "namespace": bridge.dpu_cluster[0]}
    return done(INJECTED, "Injected", f"Secret {'/'.join(ref.values())}", *copies, *set_once, kubeconfigSecretRef=ref)


def approving_step(observed: Observed) -> Step:
    state = observed.approver
    status = Status.TRUE if state.is_active else Status.FALSE
    return Step(condition=Condition(type=APPROVING, status=status, reason=state.reason, message=state.message))
