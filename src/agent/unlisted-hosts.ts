import { realpath } from 'node:fs/promises';
import { dirname, extname, relative, sep } from 'node:path';
import type { ConfigProblem, ServiceConfig } from '../actors/config/config.ts';
import {
  type EffectiveHosts,
  effectiveHosts,
  hopOf,
  normaliseHost,
} from '../actors/outbound/outbound.ts';
import { type MentionedHost, mentionedHosts, type Skill } from '../actors/tools/tools.ts';
import { declaredEndpoints } from './derived-endpoints.ts';

/** Which programs ask for a tunnel where others send a request; Node's fetch does for every URL. */
const tunnelling = new Set(['.js', '.mjs', '.ts']);

/**
 * Names the hosts that scripts mention and no entry covers, each where it stands, and the skills that declare hosts
 * which no script of theirs could ask (docs/contract/egress.md). What is put together when a script runs is not known.
 */
export async function unlistedHosts(
  directory: string,
  { egress }: ServiceConfig,
  skills: readonly Skill[],
): Promise<ConfigProblem[]> {
  if (egress.mode === 'dev-open') return [];
  const isClosed = egress.mode === 'deny-all';
  const listed = { domains: egress.allowed_domains, private: egress.allowed_private };
  const hosts = effectiveHosts(
    isClosed ? { domains: [], private: [] } : listed,
    isClosed ? [] : declaredEndpoints(skills),
  );
  const root = await realpath(directory);
  const folders = Map.groupBy(
    skills.filter(({ tools }) => tools.length > 0),
    ({ tools: [tool] }) => dirname(tool?.script ?? root),
  );
  const found = [...folders].map(async ([folder, owners]) =>
    (await mentionedHosts(folder)).flatMap((mentioned) => {
      const why = uncovered(mentioned, owners, hosts);
      if (why === null) return [];
      const { path, line, column } = mentioned;
      const file = relative(root, path).split(sep).join('/');
      const message = isClosed ? `${why}; tools reach nothing with mode: deny-all` : why;
      return [{ message, file, line, column, path: '' }];
    }),
  );
  const idle = isClosed ? [] : skills.flatMap((skill) => declaredInVain(skill, hosts));
  return [...(await Promise.all(found)).flat(), ...idle];
}

/** Returns why a host that a script mentions is out of its reach, and what to do; `null` when it is not. */
function uncovered(
  { path, url }: MentionedHost,
  owners: readonly Skill[],
  hosts: EffectiveHosts,
): string | null {
  const { hostname, port, protocol } = hopOf(url);
  const host = normaliseHost(hostname);
  if (host === null) return null;
  const isTunnel = protocol === 'https:' || tunnelling.has(extname(path));
  const isListed = (asTunnel: boolean) =>
    owners.some(({ id }) => hosts.lists({ host, port, isTunnel: asTunnel }, id));
  if (isListed(isTunnel)) return null;
  const named = `${url.hostname}:${port}`;
  if (isListed(false)) {
    return `this script mentions ${named}, and a tunnel goes to 443 and 80 unless an entry names the port; write the entry as ${named}`;
  }
  const [owner] = owners;
  return `this script mentions ${url.host}, which no entry covers; add it to egress_domains of the skill ${owner?.id}, or to egress.allowed_domains`;
}

/** Hosts are declared for scripts; builtin tools go by what is listed. */
function declaredInVain(skill: Skill, hosts: EffectiveHosts): ConfigProblem[] {
  if (skill.tools.length > 0) return [];
  const isListed = declaredEndpoints([skill]).every(({ host, port }) => {
    const place = normaliseHost(host.replace(/^\*/, 'any')) ?? '';
    return hosts.lists({ host: place, port, isTunnel: false }, null);
  });
  if (isListed) return [];
  const message = `the skill ${skill.id} has no script to which its egress_domains would be open; list them in egress.allowed_domains for builtin tools`;
  return [{ message, file: skill.file, line: 1, column: 1, path: '' }];
}
