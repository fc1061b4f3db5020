"""Groups, rules and pools as JSON."""

from dataclasses import asdict, replace
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from feedmill.model.pool import Form, Group, Guarantee, PoolOptions, PoolStatus, Rule
from feedmill.serve.rest.fields import Id, Line, Moment, Whole

Language = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Lines = Annotated[list[Line], Field(max_length=200)]
DAY = 86_400


class RuleForm(BaseModel):
    """Which entries a group wants. All conditions must hold; one that is empty always does."""

    model_config = ConfigDict(extra="forbid")

    feeds: list[Id] = Field(default=[], max_length=10_000, description="Entries of these feeds, by their ids.")
    folders: Lines = Field(default=[], description="Entries of feeds in these folders of the operator, and below.")
    labels: Lines = Field(default=[], description="Entries that somebody gave one of these labels.")
    words: Lines = Field(default=[], description="Entries that say one of these in their title or text.")
    without: Lines = Field(default=[], description="Not those that say one of these.")
    language: Language | None = Field(default=None, description="Such as `en` or `zh-CN`.")
    min_length: Whole = Field(default=0, ge=0, le=10_000_000, description="Characters that the text has at least.")
    since: Moment | None = Field(default=None, description="Entries from then on.")

    def rule(self) -> Rule:
        given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in self}
        return Rule(**given)

    @classmethod
    def of(cls, rule: Rule) -> Self:
        return cls.model_validate(asdict(rule))


class OptionsForm(BaseModel):
    """How one pool works; what is not given stays as it is."""

    model_config = ConfigDict(extra="forbid")

    guarantee: Guarantee | None = None
    size: Whole | None = Field(default=None, ge=1, le=1_000_000, description="Items in the Redis list when it is full.")
    refill_below: Whole | None = Field(default=None, ge=1, le=1_000_000, description="Filled up when it has fewer.")
    lease_seconds: Whole | None = Field(default=None, ge=1, le=DAY, description="How long a lease lasts.")
    most_attempts: Whole | None = Field(default=None, ge=1, le=1000, description="Leases before an item is set aside.")
    form: Form | None = Field(default=None, description="What contents are handed out as.")
    most_in_list: Whole | None = Field(
        default=None, ge=1, le=10_000_000, description="Characters above which a text goes by reference."
    )

    def over(self, options: PoolOptions) -> PoolOptions:
        return replace(options, **self.model_dump(exclude_none=True))


class Options(BaseModel):
    guarantee: Guarantee
    size: int
    refill_below: int
    lease_seconds: int
    most_attempts: int
    form: Form
    most_in_list: int


class GroupShown(BaseModel):
    id: int
    name: str
    paused: bool
    created_at: datetime
    rule: RuleForm
    titles: Options
    contents: Options

    @classmethod
    def of(cls, group: Group) -> Self:
        return cls(
            id=group.id, name=group.name, paused=group.paused, created_at=group.created_at,
            rule=RuleForm.of(group.rule), titles=_options(group.titles), contents=_options(group.contents),
        )  # fmt: skip


class GroupPage(BaseModel):
    items: list[GroupShown]
    next: None = Field(default=None, description="There is one page only.")


class NewGroup(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Line
    rule: RuleForm = RuleForm()
    titles: OptionsForm = OptionsForm()
    contents: OptionsForm = OptionsForm()


class GroupChanges(BaseModel):
    """What is given replaces what was said before: a rule as a whole, a pool's options one by one."""

    model_config = ConfigDict(extra="forbid")

    name: Line | None = None
    rule: RuleForm | None = None
    titles: OptionsForm = OptionsForm()
    contents: OptionsForm = OptionsForm()

    def over(self, group: Group) -> dict[str, Any]:
        return {
            "name": self.name or group.name,
            "rule": self.rule.rule() if self.rule else group.rule,
            "titles": self.titles.over(group.titles),
            "contents": self.contents.over(group.contents),
        }


class Status(BaseModel):
    """How many items are in each state; together they are all there are."""

    available: int
    queued: int
    leased: int
    used: int
    dead: int
    total: int
    in_list: int | None = Field(description="Items in the Redis list; null when Redis is not used or does not answer.")
    filled_by: str | None = Field(description="Who fills the list just now.")

    @classmethod
    def of(cls, status: PoolStatus) -> Self:
        counts = status.counts
        return cls(**asdict(counts), total=counts.total, in_list=status.in_list, filled_by=status.filled_by)


def _options(options: PoolOptions) -> Options:
    return Options(**asdict(options))
