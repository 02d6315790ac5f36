// Calls the API like any front end: fetch, the key in the Authorization header, errors from the body.

/** The error in a response's body, with the status. */
export class ServiceError extends Error {
  constructor({ code, message, docs }, status) {
    super(message);
    this.code = code;
    this.docs = docs;
    this.status = status;
  }
}

/** Returns the response's body, its notice if any, the requested path, and its age on arrival. */
export async function requestJson(path, query, key) {
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error('Enter a key: letters, digits and underscores.');
  const requested = `/v1/${path}?${new URLSearchParams(query)}`;
  const response = await reach(requested, key);
  const body = await response.json().catch(() => null);
  if (body === null) throw new Error('The response did not come from the service. Is a proxy in between?');
  if (!response.ok)
    throw new ServiceError(body.error ?? { message: 'The service cannot be reached.' }, response.status);
  const notice = response.headers.get('x-notice');
  return { body, path: requested, ageSeconds: Number(response.headers.get('age')), at: performance.now(), notice };
}

async function reach(url, key) {
  try {
    // The browser revalidates its cached response; a 304 from the cache is free.
    return await fetch(url, { headers: { authorization: `Bearer ${key}` }, cache: 'no-cache' });
  } catch {
    throw new Error('The service cannot be reached. Are you online?');
  }
}

const KEPT = 'transit-key';

/** Stores the key field in this browser. The sandbox key on the page replaces a stored test key. */
export function keepKey(field) {
  const kept = store((storage) => storage.getItem(KEPT));
  const isNewer = field.value.startsWith('tis_test_') && kept?.startsWith('tis_test_');
  if (kept && !isNewer) field.value = kept;
  field.addEventListener('change', () => {
    field.value = field.value.trim();
    store((storage) => (field.value ? storage.setItem(KEPT, field.value) : storage.removeItem(KEPT)));
  });
}

/** Storage may be blocked; then the key lasts for this page only. */
function store(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}
