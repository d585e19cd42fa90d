import { randomUUID } from 'node:crypto';
import { run, variable } from './run.mjs';
import { openMail } from './smtp.mjs';

const address = /^[^\s<>@"\\]+@[^\s<>@"\\]+$/;

await run(async ({ to, subject, text }) => {
  const from = variable('SMTP_FROM');
  if (!address.test(from)) throw new Error('SMTP_FROM is not an address such as desk@example.com');
  const allowed = (process.env.SMTP_ALLOWED_DOMAINS ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  for (const one of to) {
    if (!address.test(one)) throw new Error(`${JSON.stringify(one)} is not an address`);
    const domain = one.slice(one.lastIndexOf('@') + 1).toLowerCase();
    if (allowed.length > 0 && !allowed.includes(domain)) {
      throw new Error(
        `nobody at ${domain} may be written to; SMTP_ALLOWED_DOMAINS does not list it`,
      );
    }
  }
  const id = `<${randomUUID()}@${from.slice(from.lastIndexOf('@') + 1)}>`;
  const mail = await openMail(variable('SMTP_URL'));
  await mail.send(from, to, messageOf({ from, to, subject, text, id }));
  return { message_id: id, accepted: to };
});

/** Every byte that was given ends up encoded, so no line of it can become a header. */
function messageOf({ from, to, subject, text, id }) {
  const body = Buffer.from(text.replaceAll(/\r?\n/g, '\r\n')).toString('base64');
  return [
    `From: ${from}`,
    `To: ${to.join(',\r\n ')}`,
    `Subject: ${encoded(subject)}`,
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: ${id}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    ...(body.match(/.{1,76}/g) ?? []),
    '',
  ].join('\r\n');
}

/** A header as encoded words of whole characters (RFC 2047). */
function encoded(text) {
  const words = [''];
  for (const character of text) {
    if (Buffer.byteLength(words.at(-1) + character) > 42) words.push('');
    words[words.length - 1] += character;
  }
  const asWord = (word) => `=?utf-8?B?${Buffer.from(word).toString('base64')}?=`;
  return words.map(asWord).join('\r\n ');
}
