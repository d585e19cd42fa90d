import type { AgentAnswers } from './agent-answers.ts';
import { wrongHost } from './wrong-host.ts';

/** A host named by a variable's value, in the format of the egress list. */
export interface VariableHost {
  host: string;
  /** Name of the variable. */
  name: string;
}

/** Default ports by URL scheme. */
const usualPorts: Readonly<Record<string, string>> = {
  'https:': '443',
  'http:': '80',
  'smtps:': '465',
  'smtp:': '587',
};

/**
 * Lists the hosts that skill variables and added variables name as URLs. IP addresses are left to the author of
 * `service.yaml`, where private and public ones are distinguished.
 */
export function variableHosts({ skills, security }: AgentAnswers): VariableHost[] {
  const variables = Object.entries({ ...skills.variables, ...security.variables });
  return variables.flatMap(([name, value]) => {
    const host = hostOf(value.trim());
    return host === null || wrongHost(host) !== null ? [] : [{ host, name }];
  });
}

function hostOf(value: string): string | null {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? URL.parse(value) : null;
  if (url === null || url.hostname === '') return null;
  const port = url.port === '' ? usualPorts[url.protocol] : url.port;
  if (port === undefined) return null;
  const host = url.hostname.toLowerCase();
  return port === '443' ? host : `${host}:${port}`;
}
