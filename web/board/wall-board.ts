import type { FastifyInstance } from 'fastify';
import { parseKey } from '#src/access/keys.ts';
import { type SignedKeys, WALL_DATA_PATH } from '#src/access/signed-keys.ts';
import type { Service } from '#src/http/extension.ts';
import { sendResponse } from '#src/http/send-response.ts';
import { withOwnDefaults } from '#src/operations/operation.ts';
import { html } from '../html.ts';

const DEFAULTS = { modes: 'all', limit: '30', include: 'alert_texts' };

/**
 * `GET /board/:stop/departures`: data for the wall display, charged to the link's key, with the same rules and errors as
 * departures.
 */
export async function wallBoard(app: FastifyInstance, service: Service): Promise<void> {
  app.get<{ Params: { stop: string } }>(WALL_DATA_PATH, async (request, reply) => {
    const { stop } = request.params;
    const parameters = { ...withOwnDefaults(DEFAULTS, request.query as object), stop };
    return sendResponse(request, reply, await service.runOperation('/v1/departures', parameters, request), service);
  });
}

/**
 * The page for a wall display. It contains no departures and no key: `assets/wall/wall.js` fetches them with the link's token.
 * In the sandbox, a page without a token gets one of the test key.
 */
export async function wallPage(
  stop: string,
  options: { isSandbox: boolean; testKey: () => Promise<string | null>; signedKeys: SignedKeys },
): Promise<string> {
  const key = parseKey((await options.testKey()) ?? '');
  const token = key && options.signedKeys.createWallLink(stop, key);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Board ${stop.slice(0, 20)} · Transit Information Service</title>
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/assets/icon-32.png" type="image/png">
<link rel="stylesheet" href="/assets/lines.css">
<link rel="stylesheet" href="/assets/wall/wall.css">
<script type="module" src="/assets/wall/wall.js"></script>
</head>
<body data-stop="${stop.slice(0, 20)}" data-token="${token}">
<header><a class="back" href="/explore#board=${encodeURIComponent(stop.slice(0, 20))}" aria-label="Back to the map">‹</a><h1 id="name">Departures</h1><p id="clock" role="timer" aria-label="Time in Sydney"></p></header>
<main>
<p id="notice" role="status" hidden></p>
<form id="search" role="search" hidden><label for="q">Find a stop by its name</label><input type="search" id="q" required maxlength="100" placeholder="Circular Quay"><button>Find</button></form>
<div class="rows"><table><thead><tr><th scope="col">Route</th><th scope="col">Destination</th><th scope="col">Platform</th><th scope="col" class="number">Leaves</th></tr></thead><tbody id="rows"></tbody></table></div>
<ol id="alerts" aria-label="Alerts"></ol>
<noscript><p>This board needs JavaScript. In a terminal, use <code>curl -H "Authorization: Bearer $TIS_KEY"</code> with this address.</p></noscript>
</main>
<footer><p id="age"></p><p><span class="live">Green</span> = live, else scheduled</p><p class="source">${options.isSandbox && html`<strong>Sandbox: times are made up.</strong> `}Data: Transport for NSW, CC BY 4.0</p><button type="button" id="theme">Light</button></footer>
</body>
</html>
`.markup;
}
