// Writes a request in several languages, for the server's pages and for the playground in the browser.

/** "/v1/stops/search" → "stops-search" */
export function operationSlug(path) {
  return path.replace(/^\/v1\/|[{}]/g, '').replaceAll('/', '-');
}

/** The page of an operation: "/v1/stops/search" → "/docs/reference/stops-search" */
export function operationUrl(path) {
  return `/docs/reference/${operationSlug(path)}`;
}

/** How server-side languages read the key from the environment. */
const KEY = {
  js: 'process.env.TIS_KEY',
  python: 'os.environ["TIS_KEY"]',
};

/**
 * @param {string} publicUrl
 * @param {string} path with a slash at its start, and the query
 * @param {string | null} key written into the samples; null: they read it from the environment. Phone samples use a token.
 */
export function sampleOf(publicUrl, path, key = null) {
  const url = publicUrl + path;
  const ofJs =
    key === null
      ? `// Server-side only. In a web page use a publishable key: /docs/browsers\nconst key = ${KEY.js};`
      : `const key = '${key}';`;
  return {
    curl: `curl -H "Authorization: Bearer ${key ?? '$TIS_KEY'}" \\\n  "${url}"`,
    javascript: [
      ofJs,
      `const response = await fetch('${url}', {`,
      "  headers: { Authorization: 'Bearer ' + key },",
      '});',
      'const body = await response.json();',
      'if (!response.ok) throw new Error(body.error.message);',
      'console.log(body);',
    ].join('\n'),
    python: [
      'import json, os, urllib.request',
      '',
      `request = urllib.request.Request("${url}")`,
      `request.add_header("Authorization", "Bearer " + ${key === null ? KEY.python : `"${key}"`})`,
      'print(json.load(urllib.request.urlopen(request)))',
    ].join('\n'),
    // An app must not contain a key, because anyone could read it.
    kotlin: [
      'import java.net.HttpURLConnection',
      'import java.net.URI',
      '',
      '// Get the token from your own backend, which calls POST /v1/tokens. Do not run this on the main thread.',
      'fun load(token: String): String {',
      `    val connection = URI("${url}").toURL().openConnection() as HttpURLConnection`,
      '    connection.setRequestProperty("Authorization", "Bearer $token")',
      '    val isOk = connection.responseCode < 400',
      '    val stream = if (isOk) connection.inputStream else connection.errorStream',
      '    return stream.bufferedReader().readText()',
      '}',
    ].join('\n'),
    swift: [
      'import Foundation',
      '',
      '// Get the token from your own backend, which calls POST /v1/tokens.',
      'func load(token: String) async throws -> String {',
      `    var request = URLRequest(url: URL(string: "${url}")!)`,
      '    request.setValue("Bearer \\(token)", forHTTPHeaderField: "Authorization")',
      '    let (data, _) = try await URLSession.shared.data(for: request)',
      '    return String(decoding: data, as: UTF8.self)',
      '}',
    ].join('\n'),
  };
}

/**
 * Writes the request with a generated TypeScript client, and as an MCP tool call.
 * @param {string} publicUrl
 * @param {string} id
 * @param {{ path: Record<string, unknown>, query: Record<string, unknown> }} given parameters by place
 * @param {string | null} key
 */
export function callSampleOf(publicUrl, id, { path, query }, key = null) {
  const places = Object.entries({ path, query }).filter(([, inside]) => Object.keys(inside).length > 0);
  return {
    client: [
      `// npx -p @hey-api/openapi-ts -p typescript@5 openapi-ts --input ${publicUrl}/openapi.json --output client --client @hey-api/client-fetch`,
      "import { client } from './client/client.gen.ts';",
      `import { ${id} } from './client/index.ts';`,
      '',
      `client.setConfig({ baseUrl: '${publicUrl}', auth: ${key === null ? `${KEY.js} ?? ''` : `'${key}'`} });`,
      '',
      `const { data, error } = await ${id}(${toLiteral(Object.fromEntries(places))});`,
      'if (error) throw new Error(error.error.message);',
      'console.log(data);',
    ].join('\n'),
    tool: [
      `curl -H "Authorization: Bearer ${key ?? '$TIS_KEY'}" -H "Content-Type: application/json" \\`,
      `  -H "Accept: application/json, text/event-stream" "${publicUrl}/mcp" \\`,
      // A single quote would end the shell string.
      `  -d '${JSON.stringify(toolCallOf(id, { path, query })).replaceAll("'", '\\u0027')}'`,
    ].join('\n'),
  };
}

/**
 * Groups parameters by place and converts them to JSON values. Omits those without text.
 * @param {{ name: string, place: string, type: string, text: string }[]} parameters
 */
export function placeParameters(parameters) {
  /** @type {{ path: Record<string, unknown>, query: Record<string, unknown> }} */
  const given = { path: {}, query: {} };
  for (const { name, place, type, text } of parameters)
    if (text !== '') given[place === 'path' ? 'path' : 'query'][name] = toJson(type, text);
  return given;
}

/**
 * @param {string} type
 * @param {string} text
 */
function toJson(type, text) {
  if (type === 'array') return text.split(',').map((part) => part.trim());
  if (type === 'boolean') return text === 'true';
  const isNumber = (type === 'integer' || type === 'number') && /^-?\d+(\.\d+)?$/.test(text);
  return isNumber ? Number(text) : text;
}

/**
 * Returns the JSON-RPC message with which an assistant calls the operation.
 * @param {string} id
 * @param {{ path: Record<string, unknown>, query: Record<string, unknown> }} given
 */
export function toolCallOf(id, { path, query }) {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: id, arguments: { ...path, ...query } } };
}

/**
 * Writes the code that reads a stream, in several languages.
 * @param {string} publicUrl
 * @param {string} path
 * @param {string | null} key
 */
export function streamSampleOf(publicUrl, path, key = null) {
  const { curl, javascript } = sampleOf(publicUrl, path, key);
  const [start = ''] = javascript.split('const body');
  return {
    curl: curl.replace('curl ', 'curl -N '),
    javascript: [
      `${start}if (!response.ok) throw new Error((await response.json()).error.message);`,
      'for await (const events of response.body.pipeThrough(new TextDecoderStream())) console.log(events);',
    ].join('\n'),
  };
}

/**
 * Returns the value as a JavaScript literal.
 * @param {unknown} value
 * @returns {string}
 */
function toLiteral(value) {
  if (Array.isArray(value)) return `[${value.map(toLiteral).join(', ')}]`;
  if (typeof value === 'string') return `'${value.replaceAll(/[\\']/g, '\\$&')}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).map(([name, inner]) => `${name}: ${toLiteral(inner)}`);
  return entries.length > 0 ? `{ ${entries.join(', ')} }` : '{}';
}
