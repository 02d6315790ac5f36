/** Providers that give anybody an address: one of their domains stands for many people. */
const SHARED_DOMAINS = new Set(
  `gmail.com outlook.com outlook.com.au hotmail.com hotmail.co.uk live.com live.com.au msn.com yahoo.com yahoo.com.au
ymail.com icloud.com me.com mac.com proton.me protonmail.com pm.me aol.com gmx.com gmx.net gmx.de web.de mail.com
fastmail.com fastmail.com.au hey.com zoho.com tuta.io tutanota.com bigpond.com bigpond.net.au optusnet.com.au
iinet.net.au tpg.com.au qq.com 163.com naver.com`.split(/\s+/),
);

/**
 * The mailbox behind an address, for limits only; accounts keep the address as it was given. Many mail servers deliver
 * `name+anything@example.com` to `name@example.com` (subaddressing, RFC 5233), and Gmail ignores dots.
 */
export function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1) === 'googlemail.com' ? 'gmail.com' : email.slice(at + 1);
  const name = email.slice(0, at).split('+', 1)[0] || email.slice(0, at);
  return `${domain === 'gmail.com' ? name.replaceAll('.', '') : name}@${domain}`;
}

export function isSharedDomain(domain: string): boolean {
  return SHARED_DOMAINS.has(domain);
}

/**
 * The domain that somebody registered, because its owner can make up any number of names below it: the last two labels,
 * or three under suffixes such as `com.au`.
 */
export function registeredDomain(mailbox: string): string {
  const labels = mailbox.slice(mailbox.lastIndexOf('@') + 1).split('.');
  const [second = '', top = ''] = labels.slice(-2);
  return labels.slice(top.length === 2 && second.length <= 3 ? -3 : -2).join('.');
}
