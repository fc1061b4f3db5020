"""Which subscriptions take part in stories: all but those that the user switched off, for the feed or for a folder."""

from sqlalchemy import ColumnElement, FromClause, and_, exists

from feedmill.store.schema import folder_subscriptions, folders


def takes_part(subscription: FromClause) -> ColumnElement[bool]:
    """Whether the stories of this subscription, a row of `subscriptions`, are shown once and read together."""
    filed, folder = folder_subscriptions.alias(), folders.alias()
    in_other_folder = exists().where(
        filed.c.subscription_id == subscription.c.id, folder.c.id == filed.c.folder_id, folder.c.same_story_once == 0
    )
    return and_(subscription.c.same_story_once == 1, ~in_other_folder)
