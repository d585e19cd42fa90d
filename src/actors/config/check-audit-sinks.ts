import { resolve } from 'node:path';
import { isLoopbackUrl } from '../../machines/loopback.ts';
import { errorAt, type Finding, type Path, warningAt } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

type Sink = ServiceConfig['audit']['sinks'][number];
type Environment = Readonly<Record<string, string | undefined>>;

/** Maximum path length of a UNIX socket on Linux, in bytes. */
const longestSocketPath = 107;

/** Checks that every audit sink is valid and that no two sinks have the same destination. */
export function checkAuditSinks({ audit: { sinks } }: ServiceConfig, env: Environment): Finding[] {
  const places = sinks.map(placeOf);
  return sinks.flatMap((sink, index) => {
    const path = ['audit', 'sinks', index];
    return [
      ...(places.indexOf(placeOf(sink)) < index ? [repeated(path)] : []),
      ...findingsOf(sink, env, path),
    ];
  });
}

function findingsOf(sink: Sink, env: Environment, path: Path): Finding[] {
  switch (sink.type) {
    case 'stdout':
      return [];
    case 'unix':
      return Buffer.byteLength(resolve(sink.path)) <= longestSocketPath
        ? []
        : [
            errorAt(
              [...path, 'path'],
              `a socket's path has at most ${longestSocketPath} bytes; choose a shorter one`,
            ),
          ];
    case 'http':
      return httpFindings(sink, env, path);
  }
}

function httpFindings(
  { url, token_env: variable }: Extract<Sink, { type: 'http' }>,
  env: Environment,
  path: Path,
): Finding[] {
  const target = new URL(url);
  const { username, password, protocol, host } = target;
  const findings: Finding[] = [];
  if (username !== '' || password !== '') {
    findings.push(errorAt([...path, 'url'], 'a URL is no place for a password; use token_env'));
  }
  if (variable !== undefined && !env[variable]) {
    findings.push(errorAt([...path, 'token_env'], `the variable ${variable} is not set; set it`));
  }
  if (protocol === 'http:' && !isLoopbackUrl(target)) {
    const message = `anyone on the way to ${host} can read and change these lines; use https`;
    findings.push(warningAt([...path, 'url'], message));
  }
  return findings;
}

function placeOf(sink: Sink): string {
  if (sink.type === 'stdout') return sink.type;
  return `${sink.type} ${sink.type === 'http' ? sink.url : sink.path}`;
}

function repeated(path: Path): Finding {
  return errorAt(
    path,
    'an earlier sink is the same place and would get every line twice; remove one',
  );
}
