"""`/pools/new` and `/pools/n`: creates, changes, pauses, fills and deletes pool groups; lost items."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, GroupExists, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.feeds.lookup import feed_references
from feedmill.model.pool import LossPolicy, PoolGroup, PoolItemState, PoolKind, PoolOptions
from feedmill.pools.errors import NoPoolLists
from feedmill.serve.http.auth import actor
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.flash import FlashMessage, flash_error, flash_success
from feedmill.serve.web.core.form_fields import accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.serve.web.pools.group_form import (
    EMPTY_VALUES,
    GROUP_FORM,
    NEW_GROUP_FORM,
    FormErrors,
    group_values,
    input_error,
    read_group_form,
    submitted_values,
)
from feedmill.serve.web.pools.take_item import requested_kind

POOLS_PATH = "/pools"


async def show_new_group(request: Request) -> Response:
    caller = await signed_in_admin(request)
    return await _show(request, None, {**EMPTY_VALUES, "labels_of": caller.user.name}, {})


@accepts_form(NEW_GROUP_FORM)
async def create_group(request: Request) -> Response:
    caller = await signed_in_admin(request)
    sent = await checked_form(request)
    pools, (new, errors) = the_app(request).pools, await read_group_form(the_app(request).db, sent)
    if new is not None:
        rule = new.rule.rule(caller.user.name)
        options = [each.over(PoolOptions()) for each in (new.titles, new.contents)]
        try:
            loss = new.loss(LossPolicy())
            group = await pools.create(new.name, rule, *options, loss=loss, by=actor(caller, request))
            return redirect(POOLS_PATH, flash_success("pools.made", name=group.name))
        except GroupExists:
            errors = {"name": "pools.name_taken"}
        except BadInput as error:
            errors = input_error(error)
    return await _show(request, None, submitted_values(sent), errors)


async def show_group_page(request: Request) -> Response:
    await signed_in_admin(request)
    return await show_group(request, await the_app(request).pools.group(path_id(request)), {})


@accepts_form(GROUP_FORM)
async def change_group(request: Request) -> Response:
    caller = await signed_in_admin(request)
    sent = await checked_form(request)
    pools = the_app(request).pools
    group = await pools.group(path_id(request))
    new, errors = await read_group_form(the_app(request).db, sent)
    if new is not None:
        changed: dict[str, Any] = {
            "name": new.name,
            "rule": new.rule.rule(caller.user.name),
            "titles": new.titles.over(group.titles),
            "contents": new.contents.over(group.contents),
            "loss": new.loss(group.loss),
        }
        try:
            await pools.change(group.id, by=actor(caller, request), **changed)
            return redirect(POOLS_PATH, flash_success("pools.changed", name=new.name))
        except GroupExists:
            errors = {"name": "pools.name_taken"}
        except BadInput as error:
            errors = input_error(error)
    return await _show(request, group, submitted_values(sent), errors)


async def show_group(request: Request, group: PoolGroup, errors: FormErrors, taker: str = "") -> Response:
    """The page of a group. `taker` is the user name typed in the grant form, shown again after an error."""
    feeds = await feed_references(the_app(request).db, group.rule.feeds)
    values = group_values(group, feeds)
    if not group.rule.labels:
        values = {**values, "labels_of": request.state.caller.user.name}
    return await _show(request, group, values, errors, taker)


async def _show(
    request: Request, group: PoolGroup | None, values: Mapping[str, Any], errors: FormErrors, taker: str = ""
) -> Response:
    grants = await the_app(request).pools.grants(group) if group else []
    return await render_page(
        request,
        "pools/group.html",
        422 if errors else 200,
        active=POOLS_PATH,
        group=group,
        values=values,
        errors=errors,
        grants=grants,
        taker=taker,
    )


@accepts_form({})
async def group_action(request: Request) -> Response:
    """Handles the buttons of a group."""
    by = actor(await signed_in_admin(request), request)
    await checked_form(request)
    pools = the_app(request).pools
    group = await pools.group(path_id(request))
    match request.path_params["action"]:
        case "pause" | "resume" as action:
            await pools.change(group.id, by=by, paused=action == "pause")
            return redirect(
                POOLS_PATH, flash_success("pools.paused" if action == "pause" else "pools.resumed", name=group.name)
            )
        case "fill":
            return redirect(POOLS_PATH, flash_success("pools.filled", n=await pools.fill(group.id)))
        case "delete":
            await pools.delete(group.id, by=by)
            return redirect(POOLS_PATH, flash_success("pools.deleted", name=group.name))
    raise NotFound(Message("error.group_button"))


@accepts_form({})
async def pool_action(request: Request) -> Response:
    """Handles the buttons of one pool."""
    await signed_in_admin(request)
    await checked_form(request)
    pools, kind = the_app(request).pools, requested_kind(request)
    group = await pools.group(path_id(request))
    match request.path_params["action"]:
        case "drain":
            return redirect(POOLS_PATH, await _drain(request, group, kind))
        case "requeue":
            return redirect(
                POOLS_PATH, flash_success("pools.requeued", n=await pools.requeue(group.id, kind, PoolItemState.DEAD))
            )
        case "release":
            return redirect(POOLS_PATH, flash_success("pools.released", n=await pools.release_lost(group.id, kind)))
        case "settle":
            return redirect(POOLS_PATH, flash_success("pools.settled", n=await pools.settle_lost(group.id, kind)))
    raise NotFound(Message("error.pool_button"))


async def show_lost_items(request: Request) -> Response:
    """Items that are queued and in no list; the search takes some seconds."""
    await signed_in_admin(request)
    pools, kind = the_app(request).pools, requested_kind(request)
    group = await pools.group(path_id(request))
    try:
        items = await pools.lost(group.id, kind)
    except NoPoolLists:
        return redirect(POOLS_PATH, flash_error("pools.no_redis"))
    return await render_page(request, "pools/lost_items.html", active=POOLS_PATH, group=group, kind=kind, items=items)


async def _drain(request: Request, group: PoolGroup, kind: PoolKind) -> FlashMessage:
    try:
        return flash_success("pools.drained", n=await the_app(request).pools.drain(group.id, kind))
    except NoPoolLists:
        return flash_error("pools.no_redis")


_ONE = f"{POOLS_PATH}/{{id:int}}"
routes = [
    Route(f"{POOLS_PATH}/new", show_new_group, methods=["GET"]),
    Route(f"{POOLS_PATH}/new", create_group, methods=["POST"]),
    Route(_ONE, show_group_page, methods=["GET"]),
    Route(_ONE, change_group, methods=["POST"]),
    Route(f"{_ONE}/{{action}}", group_action, methods=["POST"]),
    Route(f"{_ONE}/{{kind}}/lost", show_lost_items, methods=["GET"]),
    Route(f"{_ONE}/{{kind}}/{{action}}", pool_action, methods=["POST"]),
]
