import type { Socket } from 'node:net';
import { createTransport, type SMTPTransportOptions } from 'nodemailer';
import {
  type ApprovalNotice,
  type MessageRef,
  splitTarget,
} from '../../../machines/channels/approval-notice.ts';
import { normaliseEmail } from '../../../machines/governance/email.ts';
import { EgressError } from '../../outbound/outbound.ts';
import type { ConnectingOutbound } from '../../ports/egress.ts';
import { type ApproverPeople, type ChannelAdapter, DeliveryError } from '../channel-adapter.ts';
import type { EmailSettings } from '../channel-settings.ts';
import { type NoticeKind, noticeKindOf } from '../notice-kind.ts';
import { steadyAdapter } from '../steady-adapter.ts';
import { emailMessage } from './email-message.ts';

export interface EmailOptions {
  settings: EmailSettings;
  addressesOf: ApproverPeople['addressesOf'];
  /** Returns the address of the page on which people decide on a deferral. */
  pageOf: (deferralId: string) => string;
  outbound: Pick<ConnectingOutbound, 'connect'>;
}

/** Maximum recipients of one mail. */
const mostRecipients = 50;

/** Timeouts in milliseconds. */
const patience = { connection: 10_000, greeting: 10_000, socket: 20_000 };

/**
 * Creates the adapter for `channel:email:<address>` and `channel:email:*`, which sends a mail to all approvers. A mail
 * links to the page on which people sign in and decide; nothing in it decides (docs/contract/chat.md).
 */
export function createEmailAdapter(options: EmailOptions): ChannelAdapter {
  return steadyAdapter({
    name: 'email',
    mostAtOnce: 4,
    async deliver(notice, signal) {
      const to = recipientsOf(notice, options);
      await send('asked', notice, { to, signal }, options);
      return { to };
    },
    async update(ref, notice, news, signal) {
      const kind = noticeKindOf(news);
      if (kind === null) return;
      const to = keptRecipients(ref);
      await send(kind, notice, { to, signal }, options);
    },
  });
}

/** Opens a connection to the server, without the rules of egress, and signs in. Rejects with DeliveryError. */
export async function probeEmail(settings: EmailSettings): Promise<void> {
  const transport = transportOf(settings);
  try {
    await transport.verify();
  } catch (error) {
    throw failureOf(settings, error);
  } finally {
    transport.close();
  }
}

function recipientsOf({ request }: ApprovalNotice, { addressesOf }: EmailOptions): string[] {
  const { target } = splitTarget(request.target);
  const emails =
    target === '*' ? addressesOf(request.approvers ?? []).emails : [normaliseEmail(target)];
  const to = emails.filter((email) => email !== null).filter(isPlainAddress);
  if (to.length > 0) return to.slice(0, mostRecipients);
  throw new DeliveryError('email: no approver of the call has an email; name an address in "to"', {
    fault: 'target',
  });
}

function keptRecipients({ to }: MessageRef): string[] {
  const emails = Array.isArray(to) ? to : [];
  return emails.filter((one) => typeof one === 'string').filter(isPlainAddress);
}

/** An address with other characters could add a header or a recipient. */
function isPlainAddress(email: string): boolean {
  return /^[^\s@<>()[\],;:\\"]{1,64}@[A-Za-z0-9.-]{1,250}$/.test(email);
}

async function send(
  kind: NoticeKind,
  notice: ApprovalNotice,
  { to, signal }: { to: string[]; signal: AbortSignal },
  { settings, pageOf, outbound }: EmailOptions,
): Promise<void> {
  const domain = settings.from.split('@').at(-1) ?? 'localhost';
  const page = pageOf(notice.request.deferralId);
  const { host: hostname, port } = settings;
  const scope = { taskId: notice.request.taskId, correlationId: null, tags: {}, isOwn: true };
  let socket: Socket | null = null;
  const stop = () => socket?.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    socket = await outbound.connect({ hostname, port }, scope, signal);
    // Until the transport listens, an error of the socket would end the daemon.
    socket.on('error', () => undefined);
    await transportOf(settings, socket).sendMail({
      ...emailMessage(kind, notice, { page, domain }),
      ...{ from: settings.from, to, disableFileAccess: true, disableUrlAccess: true },
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
  } catch (error) {
    throw failureOf(settings, error);
  } finally {
    signal.removeEventListener('abort', stop);
    socket?.destroy();
  }
}

/** Creates a transport for one connection, over a socket that is open already if there is one. */
function transportOf({ host, port, security, user, password }: EmailSettings, socket?: Socket) {
  const options: SMTPTransportOptions = {
    getSocket: socket && ((_, callback) => callback(null, { connection: socket })),
    ...{ host, port, secure: security === 'tls' },
    ...(security === 'starttls' ? { requireTLS: true } : {}),
    ...(security === 'none' ? { ignoreTLS: true } : {}),
    ...(user === null ? {} : { auth: { user, pass: password } }),
    connectionTimeout: patience.connection,
    greetingTimeout: patience.greeting,
    socketTimeout: patience.socket,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return createTransport(options);
}

/** Omits the words of the server, which may quote the mail. */
function failureOf({ host }: EmailSettings, error: unknown): DeliveryError {
  if (error instanceof EgressError) {
    return new DeliveryError(`email: ${error.message}`, { fault: 'target' });
  }
  const field = (name: string): unknown =>
    error instanceof Error ? Reflect.get(error, name) : undefined;
  const status = field('responseCode');
  const reason = field('originalCode');
  const isTls = typeof reason === 'string' && /CERT|^ERR_(?:TLS|SSL)_|^UNABLE_TO_/.test(reason);
  const code = isTls ? reason : field('code');
  const answered = typeof status === 'number' ? `answered ${status}` : 'cannot be reached';
  const known = typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : '';
  const words = `email: the server ${host} ${answered}${known}`;
  if (code === 'EAUTH') {
    return new DeliveryError(`${words}; check user and the variable of password_env`, {
      fault: 'target',
    });
  }
  if (isTls || code === 'ETLS') {
    return new DeliveryError(`${words}; check security and the certificate of the server`, {
      fault: 'target',
    });
  }
  if (typeof status === 'number' && status >= 500) {
    return new DeliveryError(`${words}; check the addresses, and from`, { fault: 'target' });
  }
  return new DeliveryError(`${words}; retrying`, { fault: 'later' });
}
