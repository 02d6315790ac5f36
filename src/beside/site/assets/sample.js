// The same request in several languages, for the server, which draws the pages, and for the playground in the browser.

/** How languages of servers read the key where it is not written out. */
const KEY = {
  js: 'process.env.TIS_KEY',
  python: 'os.environ["TIS_KEY"]',
};

/**
 * @param {string} publicUrl
 * @param {string} path with a slash at its start, and the query
 * @param {string | null} key written into the samples; without it they read it from the environment. Those for phones take a token.
 */
export function sampleOf(publicUrl, path, key = null) {
  const url = publicUrl + path;
  const ofJs =
    key === null
      ? `// A page has a publishable key here, which everybody may read.\nconst key = ${KEY.js};`
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
    // An app never holds a key: anybody can read it there.
    kotlin: [
      'import java.net.HttpURLConnection',
      'import java.net.URI',
      '',
      '// The token comes from your own backend, which gets it with POST /v1/tokens. Call this outside of the main thread.',
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
      '// The token comes from your own backend, which gets it with POST /v1/tokens.',
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
 * The request by the client that a generator makes, and as the call of a tool.
 * @param {string} publicUrl
 * @param {string} id
 * @param {{ path: Record<string, unknown>, query: Record<string, unknown> }} given parameters by their place, lists as lists
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
      // In the shell a quote would end the text.
      `  -d '${JSON.stringify(toolCallOf(id, { path, query })).replaceAll("'", '\\u0027')}'`,
    ].join('\n'),
  };
}

/**
 * Parameters by their place and as JSON has them: numbers as numbers, lists as lists. Those without text are left out.
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
 * The message by which an assistant calls the operation.
 * @param {string} id
 * @param {{ path: Record<string, unknown>, query: Record<string, unknown> }} given
 */
export function toolCallOf(id, { path, query }) {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: id, arguments: { ...path, ...query } } };
}

/**
 * How a stream is followed.
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
 * Writes the value as JavaScript does.
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
