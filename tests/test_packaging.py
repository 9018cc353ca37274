"""What is handed out: the wheel, the pins of its requirements, and the services of docker-compose.yml."""

import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).parents[1]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = ("forecast", "pipelines", "api", "longcast")


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=REPOSITORY, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_the_wheel_holds_the_four_packages_and_nothing_else(wheel_names: list[str]) -> None:
    roots = {name.partition("/")[0] for name in wheel_names}
    assert {root for root in roots if not root.endswith(".dist-info")} == set(PACKAGES)


def test_the_wheel_holds_every_file_of_the_packages(wheel_names: list[str]) -> None:
    files = (file for package in PACKAGES for file in (REPOSITORY / package).rglob("*"))
    expected = {
        file.relative_to(REPOSITORY).as_posix() for file in files if file.is_file() and "__pycache__" not in file.parts
    }
    assert expected <= set(wheel_names)


def test_the_wheel_brings_the_console_script_and_the_licence(wheel_names: list[str]) -> None:
    assert {Path(name).name for name in wheel_names} >= {"entry_points.txt", "LICENSE"}


def test_the_version_is_told_the_same_everywhere(compose: dict[str, Any]) -> None:
    images = {service["image"] for service in compose["services"].values() if "build" in service}
    assert images == {f"longcast:{PROJECT['project']['version']}"}


def test_every_requirement_is_pinned() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = {canonical(line) for line in [*PROJECT["project"]["dependencies"], *extras["test"], *extras["dev"]]}
    assert wanted - {"longcast"} <= set(pins())


def test_torch_is_pinned_without_a_build_so_that_each_machine_takes_its_own() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", pins()["torch"])


def pins() -> dict[str, str]:
    lines = (REPOSITORY / "requirements" / "constraints-py311.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==", 1) for line in lines if not line.startswith("#") and "==" in line)
    return {canonical(name): version.partition(";")[0].strip() for name, version in pairs}


def canonical(requirement: str) -> str:
    """The normal form (PEP 503) of the name that a requirement begins with."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None, f"{requirement!r} begins with no name"
    return re.sub(r"[._-]+", "-", name.group()).lower()


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8"))


def test_every_service_says_how_its_health_is_seen(compose: dict[str, Any]) -> None:
    assert all(service["healthcheck"]["test"][0] == "CMD" for service in compose["services"].values())


def test_services_are_reached_from_this_machine_only(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        published = [port.rpartition(":")[0].rpartition(":")[0] for port in service.get("ports", [])]
        listened_on = service["environment"].get("LONGCAST_HOST")
        assert {*published, listened_on} - {None} == {"127.0.0.1"}


def test_volumes_and_dependencies_name_things_that_exist(compose: dict[str, Any]) -> None:
    services = compose["services"]
    volumes = {mount.partition(":")[0] for service in services.values() for mount in service.get("volumes", [])}
    dependencies = {name for service in services.values() for name in service.get("depends_on", {})}
    assert volumes <= set(compose["volumes"])
    assert dependencies <= set(services)


def test_the_registry_lets_its_own_service_name_in(compose: dict[str, Any]) -> None:
    (allowed,) = (word for word in compose["services"]["mlflow"]["command"] if word.startswith("--allowed-hosts="))
    assert {"mlflow", "mlflow:*"} <= set(allowed.partition("=")[2].split(","))


def test_the_image_copies_only_what_the_repository_has() -> None:
    lines = (REPOSITORY / "docker" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copies = [shlex.split(line)[1:-1] for line in lines if line.startswith("COPY ")]
    assert all((REPOSITORY / source).exists() for sources in copies for source in sources)
