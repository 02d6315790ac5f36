#!/bin/sh
# A stream of events that is refused for a moment.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund eventsource@5.1.5

cat > run.mjs <<'PROGRAM'
import http from 'node:http';
import { EventSource } from 'eventsource';

/** The first request of each path fails in its way; later ones would work. */
const FIRST = {
  '/503': (response) => response.writeHead(503, { 'Retry-After': 1 }).end(),
  '/cut': (response) => response.destroy(),
  '/ended': (response) => response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('retry: 50\n\n'),
};
const seen = new Map();
const server = http.createServer(({ url }, response) => {
  seen.set(url, (seen.get(url) ?? 0) + 1);
  if (seen.get(url) === 1) return FIRST[url](response);
  response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: board\n\n');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
for (const path of Object.keys(FIRST)) {
  const source = new EventSource(`http://127.0.0.1:${server.address().port}${path}`);
  const board = await new Promise((resolve) => {
    source.onmessage = ({ data }) => resolve(data);
    setTimeout(() => resolve('nothing'), 6000);
  });
  console.log(`${path}: ${board}, ${seen.get(path)} requests, ${['connecting', 'open', 'closed'][source.readyState]}`);
}
process.exit(0);
PROGRAM
cat > expected <<'EXPECTED'
/503: nothing, 1 requests, closed
/cut: board, 2 requests, open
/ended: board, 2 requests, open
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: eventsource 5.1.5, source https://github.com/EventSource/eventsource, as the standard requires (HTML, 9.2)
Behaviour: A status other than 200, such as a 503 with Retry-After, ends the stream for good, without another attempt. A
  broken connection and a response that ends are both retried.
Why a good guess is wrong: Reconnecting is what EventSource is for, and a 503 is the temporary one among errors. A
  server that restarts behind a proxy loses all its listeners, and one without a proxy loses none.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
