"""The one thread that writes to a SQLite database; batches that wait together share a commit."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

Work = Callable[[sqlite3.Connection], Any]

# A commit costs about as much as a small batch; with more tasks the first would wait too long.
MAX_TASKS_PER_COMMIT = 32
CLOSE_SECONDS = 2


class WriteTask(NamedTuple):
    """A function to run, and the future for its result. `alone`: outside any transaction."""

    work: Work
    alone: bool
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"


class TaskError(NamedTuple):
    """The error of a task."""

    error: Exception


class SqliteWriter:
    """Runs tasks in a thread. Each task is atomic, whatever happens to the others in the same commit."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._connection: sqlite3.Connection | None = None
        self._tasks: SimpleQueue[WriteTask | None] = SimpleQueue()
        self._ahead: list[WriteTask | None] = []
        self._thread: threading.Thread | None = None
        self._closed = False
        self._door = threading.Lock()

    async def run(self, work: Work, *, alone: bool = False) -> Any:
        """Runs `work` on the writing connection; what it raises is raised here."""
        loop = asyncio.get_running_loop()
        task = WriteTask(work, alone, loop, loop.create_future())
        self._take(task)
        return await task.future

    def close(self) -> None:
        """Finishes waiting tasks and closes the connection; soon, even if another process has locked the file."""
        with self._door:
            self._closed = True
            self._tasks.put(None)
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    def _take(self, task: WriteTask) -> None:
        """Queues a task; refuses it after `close`, because nothing would run it."""
        with self._door:
            if self._closed:
                raise sqlite3.ProgrammingError("the database was closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="sqlite-writer", daemon=True)
                self._thread.start()
            self._tasks.put(task)

    def _serve(self) -> None:
        while (tasks := self._next_tasks()) is not None:
            results = [self._attempt(tasks[0].work)] if tasks[0].alone else self._commit(tasks)
            _send_results(tasks, results)
        if self._connection is not None:
            self._connection.close()

    def _next_tasks(self) -> list[WriteTask] | None:
        """The next task with those behind it that can share its commit; None to stop."""
        first = self._ahead.pop() if self._ahead else self._tasks.get()
        if first is None:
            return None
        tasks = [first]
        while not first.alone and len(tasks) < MAX_TASKS_PER_COMMIT:
            try:
                task = self._tasks.get_nowait()
            except Empty:
                break
            if task is None or task.alone:
                self._ahead.append(task)
                break
            tasks.append(task)
        return tasks

    def _commit(self, tasks: list[WriteTask]) -> list[Any]:
        """Runs the tasks in one transaction; a task that fails is undone by itself."""
        together = self._attempt(lambda connection: _in_transaction(connection, [task.work for task in tasks]))
        return [together] * len(tasks) if isinstance(together, TaskError) else together

    def _attempt(self, work: Work) -> Any:
        try:
            if self._connection is None:
                self._connection = self._connect()
            return work(self._connection)
        except Exception as error:  # Any error belongs to the caller that waits for the task.
            return TaskError(error)


def _in_transaction(connection: sqlite3.Connection, works: Sequence[Work]) -> list[Any]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        one = len(works) == 1
        results = [works[0](connection)] if one else [_in_savepoint(connection, work) for work in works]
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return results


def _in_savepoint(connection: sqlite3.Connection, work: Work) -> Any:
    connection.execute("SAVEPOINT task")
    try:
        result = work(connection)
    except Exception as error:
        # A full disk rolls back the whole transaction.
        if not connection.in_transaction:
            raise
        connection.execute("ROLLBACK TO task")
        result = TaskError(error)
    connection.execute("RELEASE task")
    return result


def _send_results(tasks: list[WriteTask], results: list[Any]) -> None:
    """Wakes each event loop once, however many of its tasks are done."""
    for loop in {task.loop for task in tasks}:
        outcomes = [(task.future, result) for task, result in zip(tasks, results, strict=True) if task.loop is loop]
        # Nobody waits in a loop that was closed.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_set_results, outcomes)


def _set_results(outcomes: "list[tuple[asyncio.Future[Any], Any]]") -> None:
    for future, result in outcomes:
        if future.done():
            continue
        if isinstance(result, TaskError):
            future.set_exception(result.error)
        else:
            future.set_result(result)
