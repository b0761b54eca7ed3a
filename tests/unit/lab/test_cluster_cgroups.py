"""A cluster's cgroups in both versions: what it needs from the machine, and what it gives back."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from lab.real.cluster.host import cgroup, controllers
from lab.real.cluster.host.cgroup import Cgroup

ALL = ("cpuset", "cpu", "io", "memory", "hugetlb", "pids")
BY_SYSTEMD = ("cpuset", "cpu", "io", "memory", "pids")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cgroup, "ROOT", tmp_path)
    return tmp_path


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> dict[Path, bytes]:
    """Attributes of cgroups, which not every file system of a test's folder has."""
    kept: dict[Path, bytes] = {}

    def read(path: Path, _: str) -> bytes:
        if path not in kept:
            raise OSError
        return kept[path]

    monkeypatch.setattr(os, "setxattr", lambda path, _, value: kept.update({path: value}))
    monkeypatch.setattr(os, "getxattr", read)
    return kept


def version_2(folder: Path, *, has: Sequence[str] = ALL, hands_on: Sequence[str] = BY_SYSTEMD) -> None:
    (folder / "cgroup.controllers").write_text(" ".join(has))
    (folder / "cgroup.subtree_control").write_text(" ".join(hands_on))
    (folder / "cgroup.procs").write_text("1\n")


def version_1(folder: Path) -> None:
    for name in ("cpuset", "pids"):
        (folder / name).mkdir()
        (folder / name / "cgroup.procs").touch()


def test_in_version_2_there_is_one_hierarchy_and_in_version_1_one_for_each_controller(root: Path) -> None:
    version_1(root)
    assert (cgroup.hierarchies(), cgroup.owner()) == ([root / "cpuset", root / "pids"], root / "pids")

    version_2(root)
    assert (cgroup.hierarchies(), cgroup.owner()) == ([root], root)


def test_in_version_1_processors_are_inherited_and_nothing_is_handed_on(root: Path) -> None:
    version_1(root)
    own = root / "cpuset" / "hyperfleet-one"
    own.mkdir()
    (root / "cpuset" / "cpuset.cpus").write_text("0-1")
    (own / "cpuset.cpus").touch()

    Cgroup("one").create()

    assert (own / "cpuset.cpus").read_text() == "0-1"
    assert not (root / "cgroup.subtree_control").exists()


def test_in_version_2_processes_are_not_born_beside_the_pods_cgroups(root: Path, notes: dict[Path, bytes]) -> None:
    version_2(root)
    own = Cgroup("one")

    own.create()

    assert own.entrance == root / "hyperfleet-one" / "servers" / "cgroup.procs"
    assert own.entrance.parent.is_dir()


def test_what_systemd_does_not_hand_on_is_borrowed_and_noted(root: Path, notes: dict[Path, bytes]) -> None:
    version_2(root)

    Cgroup("one").create()

    assert (root / "cgroup.subtree_control").read_text() == "+hugetlb"
    assert controllers.borrowed_by(root / "hyperfleet-one") == {"hugetlb"}


def test_a_second_cluster_knows_what_the_first_one_borrowed(root: Path, notes: dict[Path, bytes]) -> None:
    version_2(root)
    Cgroup("one").create()
    version_2(root, hands_on=ALL)

    Cgroup("two").create()

    assert controllers.borrowed_by(root / "hyperfleet-two") == {"hugetlb"}


def test_what_was_borrowed_is_given_back_and_nothing_else(root: Path) -> None:
    version_2(root)

    controllers.give_back(root, {"hugetlb"})

    assert (root / "cgroup.subtree_control").read_text() == "-hugetlb"


def test_a_controller_that_somebody_else_uses_by_now_stays(root: Path) -> None:
    (root / "cgroup.subtree_control").mkdir()  # as little to be written as one that is in use

    controllers.give_back(root, {"hugetlb"})


def test_a_machine_of_version_2_is_usable(root: Path) -> None:
    version_2(root)

    assert cgroup.why_unusable() is None


def test_a_machine_that_lacks_a_controller_gets_its_name(root: Path) -> None:
    version_2(root, has=("cpu", "memory", "pids"))

    assert cgroup.why_unusable() == f"{root} lacks cpuset: the kernel, or the container around us, does not give it"


def test_a_container_whose_processes_are_in_its_root_is_refused(root: Path) -> None:
    version_2(root, hands_on=())
    (root / "cgroup.type").write_text("domain")

    problem = cgroup.why_unusable()

    assert problem is not None
    assert problem.endswith("while processes are in it: use a machine, not a container")


def test_a_container_that_hands_on_all_is_usable(root: Path) -> None:
    version_2(root, hands_on=ALL)
    (root / "cgroup.type").write_text("domain")

    assert cgroup.why_unusable() is None


def test_a_pod_that_goes_while_its_cluster_is_looked_at_is_no_error(
    root: Path, notes: dict[Path, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    version_2(root)
    one = Cgroup("one")
    one.create()
    one.entrance.write_text("42\n")
    pod = root / "hyperfleet-one" / "kubepods" / "pod1"
    pod.mkdir(parents=True)
    scandir = os.scandir

    def after_its_end(path: str) -> object:
        if Path(path) == pod and pod.exists():
            pod.rmdir()
        return scandir(path)

    monkeypatch.setattr(os, "scandir", after_its_end)
    assert one.members() == {42}
    assert not pod.exists()
