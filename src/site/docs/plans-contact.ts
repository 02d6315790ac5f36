import { type Html, html } from '../html.ts';

/** Whom to ask for a larger plan. */
export function plansContactText(contact: string | null): Html {
  return html`<p id="plans-contact">${
    contact
      ? html`Write to <a href="${contact}">${contact.replace(/^mailto:/, '')}</a>: the address of your account, the plan you need, and what for.`
      : html`The operator of this server has named nobody to ask. Keep within your plan with the steps above.`
  }</p>`;
}
