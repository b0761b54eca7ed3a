"""The kinds that the operator reads and writes, and the labels by which it knows its own objects."""

GROUP, VERSION, PLURAL, KIND = "provisioning.dpu.hcp.io", "v1alpha1", "dpuhcpbridges", "DPUHCPBridge"
API_VERSION = f"{GROUP}/{VERSION}"
HYPERSHIFT = "hypershift.openshift.io/v1beta1"
DPF = "provisioning.dpu.nvidia.com/v1alpha1"
METALLB = "metallb.io/v1beta1"
CERTIFICATES = "certificates.k8s.io/v1"

FINALIZER = f"{GROUP}/cleanup"
OWNER_LABEL = f"{GROUP}/bridge"
OWNER_ANNOTATION = f"{GROUP}/bridge"
# On a DPUCluster: the one bridge that it is bound to.
CLAIM_ANNOTATION = f"{GROUP}/bridge"

FIELD_MANAGER = "dpu-hcp-bridge"
ADMIN_KUBECONFIG_KEY = "kubeconfig"
# The key under which DPF reads a DPUCluster's kubeconfig.
DPF_KUBECONFIG_KEY = "super-admin.conf"
SSH_KEY_KEY, PULL_SECRET_KEY, ENCRYPTION_KEY_KEY = "id_rsa.pub", ".dockerconfigjson", "key"
KAMAJI = "kamaji"
