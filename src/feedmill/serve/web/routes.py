"""The routes of all pages, in the order in which they match."""

from feedmill.serve.web.admin import audit_log, hosts, merge_feeds, queue, server_log, storage, users
from feedmill.serve.web.admin import feeds as admin_feeds
from feedmill.serve.web.admin import settings as admin_settings
from feedmill.serve.web.archive import feed_archive, raw_body, replay, storage_usage
from feedmill.serve.web.bookmarks import bookmark_pages
from feedmill.serve.web.core import assets, pwa, quick_switcher
from feedmill.serve.web.entries import (
    article,
    article_drawings,
    article_images,
    article_videos,
    entry_labels,
    full_text,
    labels,
    lists,
    marks,
    news,
    playback,
    player,
    selected_entries,
)
from feedmill.serve.web.feeds import edit, feed_table, health
from feedmill.serve.web.filters import entry_effects, filter_actions, filter_editor, filter_list, mute_pages
from feedmill.serve.web.jobs import job_pages
from feedmill.serve.web.notifications import notification_pages
from feedmill.serve.web.output_feeds import output_feed_pages
from feedmill.serve.web.pools import dashboard, grants, groups, take_item
from feedmill.serve.web.search import search_pages
from feedmill.serve.web.services import save_entries, service_pages
from feedmill.serve.web.sidebar import row_menus, sidebar_counts, sidebar_pages
from feedmill.serve.web.subscriptions import (
    add_feeds,
    added_feeds,
    folders,
    import_export,
    starter_feeds,
    subscribe_page,
)
from feedmill.serve.web.users import (
    api_keys,
    appearance,
    apps,
    keymap,
    own_css,
    provider_sign_in,
    registration,
    sessions,
    settings,
    setup,
    sign_in,
    sign_in_code,
    sign_in_links,
    two_factor,
)
from feedmill.serve.web.webhooks import webhook_pages

ROUTES = [
    *assets.routes,
    *pwa.routes,
    *setup.routes,
    *sign_in.routes,
    *sign_in_code.routes,
    *provider_sign_in.routes,
    *sign_in_links.routes,
    *registration.routes,
    *lists.routes,
    *article.routes,
    *article_images.routes,
    *article_drawings.routes,
    *article_videos.routes,
    *full_text.routes,
    *player.routes,
    *entry_labels.routes,
    *marks.routes,
    *news.routes,
    *playback.routes,
    *sidebar_counts.routes,
    *sidebar_pages.routes,
    *row_menus.routes,
    *selected_entries.routes,
    *search_pages.routes,
    *filter_list.routes,
    *mute_pages.routes,
    *filter_editor.routes,
    *filter_actions.routes,
    *entry_effects.routes,
    *bookmark_pages.routes,
    *labels.routes,
    *appearance.routes,
    *own_css.routes,
    *keymap.routes,
    *quick_switcher.routes,
    *subscribe_page.routes,
    *add_feeds.routes,
    *added_feeds.routes,
    *starter_feeds.routes,
    *feed_table.routes,
    *edit.routes,
    *folders.routes,
    *import_export.routes,
    *job_pages.routes,
    *health.routes,
    *feed_archive.routes,
    *replay.routes,
    *raw_body.routes,
    *storage_usage.routes,
    *settings.routes,
    *two_factor.routes,
    *sessions.routes,
    *api_keys.routes,
    *apps.routes,
    *save_entries.routes,
    *service_pages.routes,
    *notification_pages.routes,
    *output_feed_pages.routes,
    *webhook_pages.routes,
    *dashboard.routes,
    *take_item.routes,
    # Before the groups, whose routes match these paths too.
    *grants.routes,
    *groups.routes,
    *users.routes,
    # Before the feeds, whose routes match these paths too.
    *merge_feeds.routes,
    *admin_feeds.routes,
    *hosts.routes,
    *queue.routes,
    *storage.routes,
    *audit_log.routes,
    *server_log.routes,
    *admin_settings.routes,
]
