// The calls of a web app when somebody subscribes to a feed, as the third design document has them: the dialog, the
// store and the queue client. It prints what each call returned, one JSON object per line.
//
//     node subscribe_in_browser.mjs SITE NAME PASSWORD FEED_URL
//
// What differs from the design: the server parses the feed, so the dialog sends its address and gets the ids back, and
// the JWT is in a header instead of a cookie.

const [site, name, password, feedUrl] = process.argv.slice(2);
const state = { feeds: [], articles: [] };
let jwt = "";

// What a browser adds to each request of a page: its origin, and who is signed in.
const fetch = (path, options = {}) =>
  globalThis.fetch(new URL(path, site), { ...options, headers: { ...options.headers, Authorization: `Bearer ${jwt}` } });
const print = (call, result) => console.log(JSON.stringify({ call, ...result }));

async function signIn() {
  const response = await fetch("/api/backend/auth/token", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name, password }),
  });
  jwt = (await response.json()).access_token;
}

// frontend/lib/queue-client.ts
async function scheduleFeedRefresh(feedId, forceImmediate = false) {
  const response = await fetch("/api/backend/queue/schedule-feed", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    credentials: "include",
    body: JSON.stringify({
      feed_id: feedId,
      force_immediate: forceImmediate,
    }),
  });
  return response.json();
}

const feedsApi = {
  async saveFeeds(feeds) {
    const saved = [];
    for (const feed of feeds) {
      const response = await fetch("/api/backend/feeds", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        credentials: "include",
        body: JSON.stringify({ url: feed.url, interval_seconds: feed.refreshInterval * 60 }),
      });
      saved.push({ status: response.status, body: await response.json() });
    }
    return saved;
  },
};

// frontend/lib/store/feeds.slice.ts
async function addFeed(feed) {
  const existingFeed = state.feeds.find((f) => f.url === feed.url);
  if (existingFeed) {
    return { success: false, reason: "duplicate" };
  }
  const [saved] = await feedsApi.saveFeeds([feed]);
  print("saveFeeds", saved);
  if (saved.status >= 400) {
    return { success: false, reason: saved.body.code };
  }
  const added = saved.body.feed;
  state.feeds = [...state.feeds, { ...feed, id: String(added.feed_id), title: added.title, subscription: added.id }];
  const scheduling = scheduleFeedRefresh(String(added.feed_id))
    .then((body) => print("scheduleFeedRefresh", { body }))
    .catch((error) => console.error("Failed to schedule:", error));
  return { success: true, jobId: saved.body.job_id, scheduling };
}

// In place of realtime updates of the tables: the events of a job.
async function watchJob(jobId) {
  const response = await fetch(`/api/backend/jobs/${jobId}/events`);
  const events = (await response.text()).split("\n\n").filter((event) => event.includes("data:"));
  return events.map((event) => ({
    event: event.match(/^event: ?(.*)$/m)[1],
    data: JSON.parse(event.match(/^data: ?(.*)$/m)[1]),
  }));
}

async function addArticles(feed) {
  const response = await fetch(`/api/backend/entries?view=all&feed_id=${feed.subscription}`);
  state.articles = (await response.json()).items;
}

// frontend/components/add-feed-dialog.tsx
async function handleSubmit() {
  const { scheduling, jobId, ...added } = await addFeed({ url: feedUrl, refreshInterval: 30 });
  print("addFeed", added);
  await scheduling;
  if (jobId) {
    print("watchJob", { events: await watchJob(jobId) });
  }
  if (added.success) {
    await addArticles(state.feeds[0]);
    print("addArticles", { titles: state.articles.map((article) => article.title) });
  }
}

await signIn();
await handleSubmit();
// The button that refreshes a feed at once.
const forced = await scheduleFeedRefresh(state.feeds[0].id, true);
print("forced", { body: forced });
print("watchForced", { events: await watchJob(forced.task_id) });
// The same address again: here, and in another tab that does not know of it yet.
await handleSubmit();
state.feeds = [];
await handleSubmit();
