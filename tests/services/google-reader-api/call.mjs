// Calls methods of the library: reads {"method": …, "args": […]} from each line, writes {"result": …} or {"error": …}.
// The line {"list": true} asks for the names of its methods.
import { createInterface } from "node:readline";
import { GoogleReaderApi } from "google-reader-api";

const [url, name, password] = process.argv.slice(2);
const methods = Object.getOwnPropertyNames(GoogleReaderApi.prototype).filter((each) => each !== "constructor");
const client = new GoogleReaderApi(url, name, password);
for await (const line of createInterface({ input: process.stdin })) {
  const { method, args, list } = JSON.parse(line);
  let answer;
  try {
    answer = { result: list ? methods : ((await client[method](...args)) ?? null) };
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
// The library leaves a timer of ten seconds behind for each request.
process.exit(0);
