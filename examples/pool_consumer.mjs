// Takes titles out of a Feedmill pool and prints them: node pool_consumer.mjs redis://localhost:6379 titles:pool:1
// Plain RESP over a socket, so that nothing has to be installed; any Redis client does the same.
import net from "node:net";

const [address = "redis://localhost:6379", list = "titles:pool:1"] = process.argv.slice(2);
const { hostname, port } = new URL(address);
const socket = net.connect(Number(port || 6379), hostname);
let received = Buffer.alloc(0);
const waiting = [];

socket.on("data", (data) => {
  received = Buffer.concat([received, data]);
  for (let end; waiting.length && (end = received.indexOf("\r\n")) >= 0; ) {
    const head = received.toString("utf8", 0, end);
    const length = head[0] === "$" ? Number(head.slice(1)) : -1;
    const next = length < 0 ? end + 2 : end + length + 4;
    if (received.length < next) return; // the rest is on its way
    const text = length < 0 ? null : received.toString("utf8", end + 2, next - 2);
    received = received.subarray(next);
    waiting.shift()(head[0] === "-" ? new Error(head) : text);
  }
});

const ask = (...words) => {
  const parts = words.map(String).map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  socket.write(`*${parts.length}\r\n${parts.join("")}`);
  return new Promise((resolve) => waiting.push(resolve));
};

for (let item; typeof (item = await ask("RPOP", list)) === "string"; ) {
  const { id, text, ref } = JSON.parse(item);
  console.log(id, ref ? `a long text: GET ${ref}` : text);
  await ask("LPUSH", `${list}:used`, id); // so that Feedmill can mark it as used
}
socket.end();
