"""Schemas of pool groups, their rules, options and status."""

from dataclasses import asdict, replace
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, StringConstraints

from feedmill.library.users.manage_users import normalize_user_name
from feedmill.model.pool import (
    ContentFormat,
    Guarantee,
    LossPolicy,
    OnLoss,
    PoolGroup,
    PoolOptions,
    PoolRule,
    PoolStatus,
)
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.field_types import Id, ShortText, StrictBool, StrictInt, StrictTime
from feedmill.serve.rest.users.schemas import LoginName

LanguageTag = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
# Stricter than any database: it becomes a part of statements.
TableName = Annotated[str, StringConstraints(pattern=r"^([A-Za-z_][A-Za-z0-9_]{0,62})?$")]
ShortTexts = Annotated[list[ShortText], Field(max_length=200)]
DAY_SECONDS = 86_400


class PoolRuleSchema(RequestBody):
    """Which entries a group takes. All conditions must hold; an empty one always does."""

    feeds: list[Id] = Field(default=[], max_length=10_000, description="Entries of these feeds, by their ids.")
    folders: ShortTexts = Field(
        default=[],
        description="Entries of feeds in these folders of the operator, with subfolders; not in those of users.",
    )
    labels: ShortTexts = Field(
        default=[], description="Entries that `labels_of` gave one of these labels, by their names."
    )
    words: ShortTexts = Field(default=[], description="Entries with one of these in their title or text.")
    without: ShortTexts = Field(default=[], description="Without entries that contain one of these.")
    language: LanguageTag | None = Field(default=None, description="Such as `en` or `zh-CN`.")
    min_length: StrictInt = Field(
        default=0, ge=0, le=10_000_000, description="The minimum number of characters of the text."
    )
    since: StrictTime | None = Field(default=None, description="Entries since that time.")
    labels_of: LoginName | None = Field(
        default=None, description="The name of the account whose `labels` count; by default your own."
    )

    no_entries: StrictBool = Field(
        default=False, description="No entries: only texts that programs put in. The other conditions have no effect."
    )

    def rule(self, admin: str) -> PoolRule:
        """The rule; without `labels_of`, the labels are those of the calling `admin`."""
        given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in self}
        owner = normalize_user_name(self.labels_of) if self.labels_of else admin
        return PoolRule(**given | {"labels_of": owner if self.labels else None})

    @classmethod
    def of(cls, rule: PoolRule) -> Self:
        given = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(rule).items()}
        return cls.model_validate(given)


class PoolOptionsChanges(RequestBody):
    """Options of one pool; those that are left out are not changed."""

    guarantee: Annotated[Guarantee, Field(strict=False)] | None = None
    size: StrictInt | None = Field(
        default=None, ge=1, le=1_000_000, description="Items in the Redis list when it is full."
    )
    refill_below: StrictInt | None = Field(
        default=None, ge=1, le=1_000_000, description="The list is refilled when it has fewer items."
    )
    lease_seconds: StrictInt | None = Field(default=None, ge=1, le=DAY_SECONDS, description="How long a lease lasts.")
    most_attempts: StrictInt | None = Field(
        default=None, ge=1, le=1000, description="The number of leases before an item is dead."
    )
    form: Annotated[ContentFormat, Field(strict=False)] | None = Field(
        default=None, description="The format of contents."
    )
    most_in_list: StrictInt | None = Field(
        default=None, ge=1, le=10_000_000, description="Texts with more characters are handed out as a reference."
    )
    source_table: TableName | None = Field(
        default=None,
        description="A table or view of Feedmill's database whose rows join the pool; an empty text for none.",
    )

    def over(self, options: PoolOptions) -> PoolOptions:
        return replace(options, **self.model_dump(exclude_none=True))


class LossPolicyChanges(RequestBody):
    """What happens to items that a crash leaves in doubt; what is left out is not changed."""

    on_loss: Annotated[OnLoss, Field(strict=False)] | None = Field(
        default=None,
        description="`hold`: they wait for a decision. `release`: they become available after a time.",
    )
    release_after_seconds: StrictInt | None = Field(
        default=None, ge=1, le=30 * DAY_SECONDS, description="How long they are held back with `release`."
    )
    others_rpop: StrictBool | None = Field(
        default=None,
        description="Programs take from the Redis lists with RPOP. If it is false, this is noticed within seconds.",
    )

    def loss(self, policy: LossPolicy) -> LossPolicy:
        given = {name: getattr(self, name) for name in LossPolicyChanges.model_fields}
        return replace(policy, **{name: value for name, value in given.items() if value is not None})


class PoolOptionsResponse(BaseModel):
    guarantee: Guarantee
    size: int
    refill_below: int
    lease_seconds: int
    most_attempts: int
    form: ContentFormat
    most_in_list: int
    source_table: str


class PoolGroupResponse(BaseModel):
    id: int
    name: str
    paused: bool
    created_at: datetime
    rule: PoolRuleSchema
    titles: PoolOptionsResponse
    contents: PoolOptionsResponse
    on_loss: OnLoss
    release_after_seconds: int
    others_rpop: bool

    @classmethod
    def of(cls, group: PoolGroup) -> Self:
        return cls(
            id=group.id,
            name=group.name,
            paused=group.paused,
            created_at=group.created_at,
            rule=PoolRuleSchema.of(group.rule),
            titles=_options_response(group.titles),
            contents=_options_response(group.contents),
            **asdict(group.loss),
        )


class PoolGroupPage(BaseModel):
    items: list[PoolGroupResponse]
    next: None = Field(default=None, description="Always null: there is one page.")


class NewPoolGroup(LossPolicyChanges):
    """A new group."""

    name: ShortText
    rule: PoolRuleSchema = PoolRuleSchema()
    titles: PoolOptionsChanges = PoolOptionsChanges()
    contents: PoolOptionsChanges = PoolOptionsChanges()


class PoolGroupChanges(LossPolicyChanges):
    """Fields that are left out are not changed. A rule is replaced as a whole, the options of a pool one by one."""

    name: ShortText | None = None
    rule: PoolRuleSchema | None = None
    titles: PoolOptionsChanges = PoolOptionsChanges()
    contents: PoolOptionsChanges = PoolOptionsChanges()

    def over(self, group: PoolGroup, admin: str) -> dict[str, Any]:
        return {
            "name": self.name or group.name,
            "rule": self.rule.rule(admin) if self.rule else group.rule,
            "titles": self.titles.over(group.titles),
            "contents": self.contents.over(group.contents),
            "loss": self.loss(group.loss),
        }


class PoolStatusResponse(BaseModel):
    """The number of items in each state; `total` is their sum."""

    available: int
    queued: int
    leased: int
    used: int
    dead: int
    held: int = Field(description="Items that a crash left in doubt, held back.")
    total: int
    in_list: int | None = Field(description="Items in the Redis list; null when Redis is not used or does not answer.")
    filled_by: str | None = Field(description="The process that is filling the list.")
    is_list_lost: bool = Field(description="Redis has lost the list; its items are about to be recovered.")
    rpop_seen_at: datetime | None = Field(description="When a program was last seen to take with RPOP.")
    source_problem: str | None = Field(description="Why no rows can be taken from the source table, for admins.")

    @classmethod
    def of(cls, status: PoolStatus) -> Self:
        others = {name: value for name, value in asdict(status).items() if name not in ("counts", "source_problem")}
        problem = str(status.source_problem) if status.source_problem else None
        return cls(**asdict(status.counts), total=status.counts.total, source_problem=problem, **others)


def _options_response(options: PoolOptions) -> PoolOptionsResponse:
    return PoolOptionsResponse(**asdict(options))
