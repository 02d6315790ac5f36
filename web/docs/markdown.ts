import { Lexer, Marked, type Token, type Tokens } from 'marked';
import { copyableCode, LANGUAGES, sampleTabs } from '../code-block.ts';
import { type Html, html } from '../html.ts';
import { EXAMPLE_URL, withAddress } from './address.ts';
import { downloadUrl } from './downloads.ts';

/** A section of a page with a heading, for search. */
export interface Section {
  heading: string;
  /** Empty for the text before the first second-level heading. */
  anchor: string;
  text: string;
}

/** Rendered on each call of `body` and `sections`, so that a document that is not read costs nothing. */
export interface Document {
  title: string;
  /** First paragraph, as plain text. */
  summary: string;
  body(): Html;
  sections(): Section[];
}

/**
 * Renders a document as a page. Links to guides become links to their pages. Consecutive code blocks in different languages
 * become tabs. HTML is not filtered, because the text is our own.
 */
export function renderMarkdown(text: string, publicUrl: string): Document {
  const renderer = new Marked({ renderer: rendererFor(publicUrl) });
  // Startup needs only these two. The rest waits for the first request.
  const tokens: Token[] = renderer.lexer(text.split('\n\n', 2).join('\n\n'));
  const [title] = tokens as [Tokens.Heading];
  const summary = tokens.find(({ type }) => type === 'paragraph') as Tokens.Paragraph | undefined;
  return {
    title: plainText(title.text),
    summary: plainText(summary?.text ?? ''),
    body: () => ({ markup: renderer.parser(joinSamples(renderer.lexer(text), publicUrl)) }),
    sections: () => listSections(renderer.lexer(text)),
  };
}

/** Replaces comments `<!-- name -->` with the given content, for values that only the running server has. */
export function fillIn({ markup }: Html, places: Readonly<Record<string, Html | null>>): Html {
  const filled = Object.entries(places).reduce(
    (page, [name, place]) => page.replaceAll(`<!-- ${name} -->`, () => html`${place}`.markup),
    markup,
  );
  return { markup: filled };
}

/** Renders one or more paragraphs, such as a description from a schema. */
export function renderText(text: string): Html {
  return { markup: new Marked().parse(text, { async: false }) };
}

/** Like `renderText`, without the enclosing paragraph. */
export function renderInline(text: string): Html {
  return { markup: new Marked().parseInline(text, { async: false }) };
}

/** Renders a heading that links to itself, so that its address can be copied. */
export function heading(anchor: string, title: Html | string, level: 2 | 3 = 2): Html {
  const tag = { markup: `h${level}` };
  return html`<${tag} id="${anchor}"><a href="#${anchor}">${title}</a></${tag}>`;
}

function rendererFor(publicUrl: string) {
  let section = '';
  return {
    heading(this: { parser: { parseInline(tokens: Token[]): string } }, { tokens, depth, text }: Tokens.Heading) {
      const title = { markup: this.parser.parseInline(tokens) };
      section = plainText(text);
      const isTitle = depth === 1;
      return `${(isTitle ? html`<h1>${title}</h1>` : heading(anchorOf(text), title, depth as 2 | 3)).markup}\n`;
    },
    code: ({ text, lang }: Tokens.Code) => copyableCode(withAddress(text, publicUrl), lang?.split(' ')[0] ?? '').markup,
    link(this: { parser: { parseInline(tokens: Token[]): string } }, { href, tokens }: Tokens.Link) {
      const inside = { markup: this.parser.parseInline(tokens) };
      const page = toPageLink(href);
      return page ? html`<a href="${page}">${inside}</a>`.markup : inside.markup;
    },
    table(this: { parser: { parseInline(tokens: Token[]): string } }, { header, rows }: Tokens.Table) {
      const className = (align: Tokens.TableCell['align']) => align === 'right' && html` class="number"`;
      const inside = (tokens: Token[]): Html => ({ markup: this.parser.parseInline(tokens) });
      const head = header.map(({ tokens, align }) => html`<th scope="col"${className(align)}>${inside(tokens)}</th>`);
      const labels = header.map(({ text }) => plainText(text));
      const body = rows.map((row) => {
        return html`<tr>${row.map(({ tokens, align }, column) => html`<td data-label="${labels[column] ?? ''}"${className(align)}>${inside(tokens)}</td>`)}</tr>
`;
      });
      return html`<div class="scroll" tabindex="0" role="region" aria-label="${section}: ${labels.filter(Boolean).join(', ')}"><table>
<thead><tr>${head}</tr></thead>
<tbody>${body}</tbody></table></div>
`.markup;
    },
  };
}

/** "streams.md#read-it" → "/docs/streams#read-it"; null for files of the repository that have no page here. */
function toPageLink(href: string): string | null {
  if (href.startsWith(EXAMPLE_URL)) return href.slice(EXAMPLE_URL.length) || '/';
  if (href.startsWith('../')) return downloadUrl(href);
  return href.replace(/^([a-z-]+)\.md/, '/docs/$1');
}

/** Joins consecutive code blocks in different languages into one block with tabs. */
function joinSamples(tokens: readonly Token[], publicUrl: string): Token[] {
  const joinedTokens: Token[] = [];
  let run: Tokens.Code[] = [];
  const close = () => {
    if (run.length > 1) joinedTokens.push(toTabs(run, publicUrl));
    else joinedTokens.push(...run);
    run = [];
  };
  for (const token of tokens) {
    if (token.type === 'space') continue;
    const isSample = token.type === 'code' && Object.hasOwn(LANGUAGES, token.lang ?? '');
    if (!isSample || run.some(({ lang }) => lang === token.lang)) close();
    if (isSample) run.push(token as Tokens.Code);
    else joinedTokens.push(token);
  }
  close();
  return joinedTokens;
}

function toTabs(run: readonly Tokens.Code[], publicUrl: string): Token {
  const samples = run.map(({ lang = '', text }) => ({ language: lang, code: withAddress(text, publicUrl) }));
  const { markup } = sampleTabs(samples);
  return { type: 'html', raw: markup, text: markup, pre: false, block: true };
}

function listSections(tokens: readonly Token[]): Section[] {
  const sections: Section[] = [];
  for (const token of tokens) {
    if (token.type === 'heading' && token.depth <= 3) {
      const isTitle = sections.length === 0;
      sections.push({ heading: plainText(token.text), anchor: isTitle ? '' : anchorOf(token.text), text: '' });
    } else if (token.type !== 'space' && token.type !== 'html') {
      const section = sections.at(-1);
      if (section) section.text += `${wordsOf([token])} `;
    }
  }
  return sections;
}

/** Returns the anchor that GitHub would generate. */
function anchorOf(heading: string): string {
  return plainText(heading)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');
}

/** Returns the plain text of inline Markdown. */
export function plainText(markdown: string): string {
  return wordsOf(Lexer.lexInline(markdown));
}

/** Returns the text without markup. Dots separate table cells and list items. */
function wordsOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'table') {
        const rows = [token.header, ...token.rows] as Tokens.TableCell[][];
        return rows.map((cells) => cells.map((cell) => wordsOf(cell.tokens)).join(' · ')).join(' · ');
      }
      // The space separates a nested list from the text before it.
      if (token.type === 'list')
        return ` ${(token as Tokens.List).items.map((item) => wordsOf(item.tokens)).join(' · ')}`;
      return 'tokens' in token && token.tokens ? wordsOf(token.tokens) : 'text' in token ? token.text : ' ';
    })
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
