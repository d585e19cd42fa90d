import { approvalsPath } from '../page-of-call.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Returns the address of the page on which people decide; `null` without one. */
export function decisionPage({ approvals, server }: ServiceConfig): string | null {
  if (approvals !== undefined) return `${approvals.public_url}${approvalsPath}`;
  return server.public_url === '' ? null : server.public_url;
}
