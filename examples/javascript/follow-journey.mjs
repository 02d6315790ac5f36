/** Finds two stops by name, plans a journey and follows it: prints each change once, and follows the next journey if a change is missed. */

const service = `${process.env.TIS_URL ?? 'http://localhost:3000'}/v1`;
const headers = { Authorization: `Bearer ${process.env.TIS_KEY}` };

async function get(path, query) {
  const response = await fetch(`${service}/${path}?${new URLSearchParams(query)}`, { headers });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error.message);
  return body;
}

async function findStop(q) {
  const { results } = await get('stops/search', { q, limit: 1 });
  return results[0].stop_id;
}

const clock = (moment) =>
  new Date(moment).toLocaleTimeString('en-AU', { timeZone: 'Australia/Sydney', timeStyle: 'short' });

function* sentencesOf({ status, journey, changes, next_journeys: next }) {
  for (const { mode, route, cancelled, origin, alerts } of journey.legs) {
    if (mode === 'walk') continue;
    const at = clock(origin.departs_at_realtime ?? origin.departs_at);
    yield cancelled ? `${route} does not run` : `${route} leaves ${origin.name}, ${origin.platform ?? ''} at ${at}`;
    for (const alert of alerts) yield `Alert: ${alert}`;
  }
  for (const { name, status: word, spare_minutes } of changes)
    yield word === 'missed' ? `The change at ${name} is missed` : `${spare_minutes} minutes to change at ${name}`;
  if (next) yield next.length > 0 ? `Continue at ${clock(next[0].departs_at)}` : 'No onward journey was found';
  if (status === 'ended') yield 'You have arrived';
}

async function* eventsOf(path) {
  const response = await fetch(`${service}/${path}`, { headers });
  if (!response.ok) throw new Error((await response.json()).error.message);
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop();
    for (const part of parts) {
      const [, event, data] = /^event: (.+)\n(?:id: .+\n)?data: (.+)$/m.exec(part) ?? [];
      if (event) yield { event, data: JSON.parse(data) };
    }
  }
}

const said = new Set();

/** Resolves with the journey to follow next: another one, the same one after the connection broke off, or none. */
async function follow(id) {
  for await (const { event, data } of eventsOf(`trips/${id}/stream`)) {
    if (event === 'end' && data.error.code !== 'SERVICE_UNAVAILABLE') return null;
    if (event !== 'journey') continue;
    for (const sentence of sentencesOf(data)) {
      if (!said.has(sentence)) process.stdout.write(`${sentence}\n`);
      said.add(sentence);
    }
    const other = data.next_journeys?.[0]?.journey_id;
    if (other) return other;
  }
  await new Promise((resolve) => setTimeout(resolve, 5000));
  return id;
}

const [from, to] = await Promise.all(['Domestic Airport', 'Manly Wharf'].map(findStop));
const { journeys } = await get('trips', { from, to, include: 'ids', path: 'none' });
for (let id = journeys[0].journey_id; id; ) id = await follow(id);
