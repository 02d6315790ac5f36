import { parse } from 'tldts';

/**
 * Domains below which each name belongs to an organisation of its own, as below `com.au`. The Public Suffix List does not have
 * them, some because a government asked to leave its domain out.
 */
const SHARED_SUFFIXES: Readonly<Record<string, string>> = {
  'nsw.gov.au': 'departments, agencies and councils of New South Wales',
  'act.gov.au': 'directorates and agencies of the Australian Capital Territory',
  'nt.gov.au': 'departments and councils of the Northern Territory',
  'schools.nsw.edu.au': 'public schools of New South Wales',
  'eq.edu.au': 'state schools of Queensland',
  'education.tas.edu.au': 'public schools of Tasmania',
};

/** Who may use the names below a host: `suffix` means anyone, or many organisations. */
export interface HostOwner {
  /** The registered domain, whose owner can create any number of names below it; null for suffixes, addresses and single names. */
  domain: string | null;
  isSuffix: boolean;
}

/** The owner of a host. With `hasSites`, hosts such as `github.io`, below which anyone can have a site, count as suffixes. */
export function ownerOf(host: string, { hasSites = false } = {}): HostOwner {
  const { hostname, domain, isIcann, isPrivate } = parse(host, { allowPrivateDomains: hasSites });
  const labels = hostname?.split('.') ?? [];
  for (let first = 0; first < labels.length; first++) {
    if (!Object.hasOwn(SHARED_SUFFIXES, labels.slice(first).join('.'))) continue;
    return first === 0
      ? { domain: null, isSuffix: true }
      : { domain: labels.slice(first - 1).join('.'), isSuffix: false };
  }
  return { domain, isSuffix: domain === null && Boolean(isIcann || isPrivate) };
}
