import type { Operation } from '#src/operations/operation.ts';
import { streamPath } from '#src/routes.ts';
import { operationUrl } from '../assets/sample.js';
import { type Html, html } from '../html.ts';
import { GUIDES, type Guide } from './guides.ts';

interface SidebarLink {
  href: string;
  label: string;
  /** The link to an operation's stream, beside the operation's name. */
  stream?: { href: string; label: string };
}

interface SidebarGroup {
  title: string;
  links: SidebarLink[];
  /** Folded unless it has the current page. */
  isFolded?: boolean;
}

/** The navigation beside every page of the documentation. */
export type Sidebar = readonly SidebarGroup[];

/** How the navigation calls the tags of operations. */
const TAG_TITLES: Readonly<Record<Operation['tag'], string>> = {
  Stops: 'Stops and boards',
  Journeys: 'Journeys and vehicles',
};

/** The operations by tag, as the navigation and the reference show them. */
export function groupByTag(operations: readonly Operation[]): { title: string; inside: readonly Operation[] }[] {
  return Object.entries(TAG_TITLES).map(([tag, title]) => ({
    title,
    inside: operations.filter((operation) => operation.tag === tag),
  }));
}

export function createSidebar(guides: readonly Guide[], operations: readonly Operation[]): Sidebar {
  const links = (names: readonly Guide['name'][]) =>
    guides
      .filter(({ name }) => names.includes(name))
      .map(({ name, title }) => ({ href: `/docs/${name}`, label: title }));
  return [
    { title: 'Start', links: [{ href: '/docs', label: 'Overview' }, ...links(GUIDES.start)] },
    { title: 'Tasks', links: links(GUIDES.tasks) },
    { title: 'Guides', links: links(GUIDES.guides), isFolded: true },
    ...groupByTag(operations).map(({ title, inside }) => ({ title, links: inside.map(operationLink), isFolded: true })),
    {
      title: 'Reference',
      links: [
        { href: '/docs/reference', label: 'All operations' },
        ...links(['errors']),
        { href: '/docs/headers', label: 'Headers' },
        ...links(['changelog']),
      ],
      isFolded: true,
    },
  ];
}

function operationLink({ path, summary, stream }: Operation): SidebarLink {
  const link = { href: operationUrl(path), label: summary };
  return stream ? { ...link, stream: { href: operationUrl(streamPath({ path })), label: stream.summary } } : link;
}

export function drawSidebar(sidebar: Sidebar, path: string, label: string): Html {
  return html`<nav aria-label="${label}">${sidebar.map(({ title, links, isFolded }) => {
    const isCurrent = links.some(({ href, stream }) => current(href, path) || stream?.href === path);
    const list = html`<ul>${links.map(
      ({ href, label, stream }) =>
        html`<li><a href="${href}"${current(href, path)}>${label}</a>${stream && html`<a class="stream" href="${stream.href}"${current(stream.href, path)} aria-label="${stream.label}">stream</a>`}</li>`,
    )}</ul>`;
    return isFolded
      ? html`<details${isCurrent && html` open`}><summary>${title}</summary>${list}</details>\n`
      : html`<p>${title}</p>${list}\n`;
  })}</nav>`;
}

/** `aria-current` for the page itself; the page of an error code belongs to the errors page. */
function current(href: string, path: string): Html | false {
  if (href === path) return html` aria-current="page"`;
  return href === '/docs/errors' && path.startsWith(`${href}/`) && html` aria-current="true"`;
}
