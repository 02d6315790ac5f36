/** Markup, as opposed to text: `html` escapes texts and inserts markup unchanged. */
export interface Html {
  readonly markup: string;
}

type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/** Template tag that escapes all values, in attributes too (put attribute values in double quotes). */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return { markup: parts.map((part, index) => part + toMarkup(values[index])).join('') };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function toMarkup(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  return 'markup' in value ? value.markup : value.map(toMarkup).join('');
}
