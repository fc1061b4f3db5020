"""`feedmill check`: each part of an installation, and an exit code for scripts."""

import json
from pathlib import Path

from tests.cli.command import feedmill
from tests.services.server import Service, free_port


def test_a_new_folder_is_fine_and_needs_its_migrations(tmp_path: Path) -> None:
    done = feedmill("check", cwd=tmp_path)

    assert done.returncode == 0
    assert [line[:4] for line in done.stdout.splitlines()] == ["ok  "] * 8
    assert "migrations to run" in done.stdout


def test_a_migrated_database_is_read_and_written(tmp_path: Path, postgres_service: Service) -> None:
    settings = {"database": postgres_service.url}
    feedmill("migrate", cwd=tmp_path, settings=settings)

    done = feedmill("check", "--json", cwd=tmp_path, settings=settings)

    parts = json.loads(done.stdout)
    assert parts["database"]["ok"]
    assert parts["database"]["detail"].startswith("reads and writes (postgresql")


def test_each_fault_is_reported_and_changes_the_exit_code(tmp_path: Path, redis_service: Service) -> None:
    settings = {
        "database": f"mysql://alice:hunter2@127.0.0.1:{free_port()}/feedmill",
        "objects": "/proc/nowhere",
        "redis": f"redis://:hunter3@127.0.0.1:{free_port()}",
    }

    done = feedmill("check", "--json", cwd=tmp_path, settings=settings)
    sound = feedmill("check", "--json", cwd=tmp_path, settings={"redis": redis_service.url})

    assert done.returncode == 1
    assert {name: part["ok"] for name, part in json.loads(done.stdout).items()} == {
        "database": False,
        "objects": False,
        "redis": False,
        "disk": True,
        "clock": True,
        "permissions": True,
        "feeds_file": True,
        "secret_key": True,
    }
    assert "hunter" not in done.stdout + done.stderr
    assert "answers in" in json.loads(sound.stdout)["redis"]["detail"]


def test_an_invalid_setting_is_a_fault_of_its_part(tmp_path: Path) -> None:
    done = feedmill("check", cwd=tmp_path, settings={"database": "oracle://host", "redis": "not-a-url"})

    assert done.returncode == 1
    assert "FAIL database: database: oracle://" in done.stdout
    assert "FAIL redis" in done.stdout
    assert done.stderr == ""


def test_the_file_of_declared_feeds_is_read_without_applying_it(tmp_path: Path) -> None:
    (tmp_path / "feeds.yaml").write_text("- https://example.org/feed\n")
    (tmp_path / "bad.yaml").write_text("- url: https://example.org/feed\n  every: 2h\n")

    good = feedmill("check", cwd=tmp_path, settings={"feeds_file": "feeds.yaml"})
    bad = feedmill("check", cwd=tmp_path, settings={"feeds_file": "bad.yaml"})

    assert "ok   feeds_file: feeds.yaml declares 1 feed" in good.stdout
    assert bad.returncode == 1
    assert "FAIL feeds_file: bad.yaml: line 2, column 3: unknown key 'every'" in bad.stdout
