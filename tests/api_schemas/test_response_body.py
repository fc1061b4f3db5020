"""What every shared response promises to the server and to the client."""

import json

import pytest
from pydantic import ValidationError

from feedmill.api_schemas.entries import LabelResponse
from feedmill.api_schemas.response_body import ResponseBody, StoredTime


class TimedResponse(ResponseBody):
    at: StoredTime


@pytest.mark.parametrize("text", ["2026-02-18T08:30:00.000Z", "2026-02-18T08:30:00.120Z"])
def test_a_stored_time_is_written_as_the_database_has_it(text: str) -> None:
    response = TimedResponse.model_validate({"at": text})

    assert json.loads(response.model_dump_json()) == {"at": text}


def test_a_client_ignores_a_field_that_it_does_not_know() -> None:
    label = LabelResponse.model_validate_json('{"id": 1, "name": "work", "entries": 3, "added_later": true}')

    assert (label.id, label.name, label.entries) == (1, "work", 3)


def test_a_response_cannot_be_changed() -> None:
    label = LabelResponse(id=1, name="work", entries=3)

    with pytest.raises(ValidationError):
        label.__setattr__("name", "play")
