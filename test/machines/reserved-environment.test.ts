import { describe, expect, it } from 'vitest';
import { refusedVariable } from '../../src/machines/reserved-environment.ts';

const steers = (name: string) =>
  `${name} affects how scripts run and is not passed on; use another name`;

describe('a variable that a skill requires', () => {
  it.each([
    ...['PATH', 'HOME', 'LANG', 'TZ', 'ENV', 'BASH_ENV', 'SHELLOPTS', 'IFS', 'SSH_AUTH_SOCK'],
    ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'RUBYOPT', 'RUBYLIB'],
    ...['LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'NODE_OPTIONS', 'PYTHONPATH', 'PYTHON'],
    ...['NODE_PATH', 'GCONV_PATH', 'PERLLIB', 'LUA_INIT', 'JAVA_TOOL_OPTIONS', 'OPENSSL_CONF'],
    ...['BASH_FUNC_ls', 'npm_config_prefix', 'DOTNET_STARTUP_HOOKS', 'PS4', 'LESSOPEN'],
    ...['GIT_SSH_COMMAND', 'PERL5OPT', 'SERVICE_AUDIT_SIGNING_KEY', 'LD_', 'path', 'Node_Options'],
  ])('may not be %s, which would control the interpreter', (name) => {
    expect(refusedVariable(name)).toBe(steers(name));
  });

  it.each(['REFUNDS_KEY', 'x', '_', 'a1', 'PATHS', 'MY_PATH', 'OLD_LD_PATH', 'LDFLAGS', 'GIT'])(
    'may be %s',
    (name) => expect(refusedVariable(name)).toBeNull(),
  );

  it.each(['', '1A', 'A-B', 'A B', 'A=B', ' A', 'A\n', 'Ä'])(
    'needs a valid name, unlike %j',
    (name) => {
      expect(refusedVariable(name)).toBe(
        `${JSON.stringify(name)} is not a variable name; use letters, digits and underscores`,
      );
    },
  );
});
