const reservedNames = new Set([
  'PATH',
  'HOME',
  'LANG',
  'TZ',
  'ENV',
  'BASH_ENV',
  'SHELLOPTS',
  'IFS',
  'SSH_AUTH_SOCK',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'RUBYOPT',
  'RUBYLIB',
]);

const reservedPrefixes = ['LD_', 'DYLD_', 'NODE_', 'PYTHON', 'GIT_', 'PERL5', 'SERVICE_'];

/** Returns why a skill may not ask for an environment variable; `null` when it may. */
export function refusedVariable(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return `${JSON.stringify(name)} is not a variable name; use letters, digits and underscores`;
  }
  const upper = name.toUpperCase();
  return reservedNames.has(upper) || reservedPrefixes.some((prefix) => upper.startsWith(prefix))
    ? `${name} steers how scripts run and is not passed on; use another name`
    : null;
}
