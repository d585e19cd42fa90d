/** Variables that control how programs run or which code they load, in addition to the prefixes below. */
const reservedNames = new Set([
  ...['PATH', 'HOME', 'LANG', 'TZ', 'TZDIR', 'SSH_AUTH_SOCK'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
  // Shells.
  ...['ENV', 'SHELL', 'SHELLOPTS', 'IFS', 'PS4', 'PROMPT_COMMAND', 'CDPATH', 'GLOBIGNORE'],
  ...['FPATH', 'ZDOTDIR'],
  // The C library and the libraries it loads by name.
  ...['GLIBC_TUNABLES', 'GCONV_PATH', 'GETCONF_DIR', 'LOCPATH', 'NLSPATH', 'NIS_PATH'],
  ...['HOSTALIASES', 'LOCALDOMAIN', 'RES_OPTIONS', 'RESOLV_HOST_CONF', 'MALLOC_TRACE'],
  ...['OPENSSL_CONF', 'OPENSSL_ENGINES', 'OPENSSL_MODULES', 'SSLKEYLOGFILE'],
  // Interpreters.
  ...['PERLLIB', 'PERLIO_DEBUG', 'RUBYOPT', 'RUBYLIB', 'RUBYSHELL', 'GEM_HOME', 'GEM_PATH'],
  ...['CLASSPATH', 'JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS', 'GOFLAGS'],
  ...['PHPRC', 'PHP_INI_SCAN_DIR', 'TCLLIBPATH', 'TCL_LIBRARY', 'JULIA_LOAD_PATH'],
  ...['JULIA_DEPOT_PATH', 'R_HOME', 'R_LIBS', 'R_LIBS_USER', 'R_PROFILE', 'R_PROFILE_USER'],
  ...['R_ENVIRON', 'R_ENVIRON_USER', 'ERL_LIBS', 'ERL_FLAGS', 'ERL_AFLAGS', 'ERL_ZFLAGS'],
  ...['ELIXIR_ERL_OPTIONS', 'DOTNET_STARTUP_HOOKS', 'BUN_OPTIONS', 'BUN_INSPECT_PRELOAD'],
  // Programs started by other programs.
  ...['EDITOR', 'VISUAL', 'PAGER', 'MANPAGER', 'BROWSER', 'LESSOPEN', 'LESSCLOSE'],
  ...['XDG_CONFIG_HOME', 'XDG_CONFIG_DIRS', 'XDG_DATA_HOME', 'XDG_DATA_DIRS'],
]);

const reservedPrefixes = [
  ...['LD_', 'DYLD_', 'BASH', 'NODE_', 'NPM_CONFIG_', 'PYTHON', 'PERL5', 'LUA_', 'BUNDLE_'],
  ...['CORECLR_', 'GIT_', 'SERVICE_'],
];

/** Returns the reason why a skill may not declare an environment variable; `null` if it may. */
export function refusedVariable(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return `${JSON.stringify(name)} is not a variable name; use letters, digits and underscores`;
  }
  const upper = name.toUpperCase();
  return reservedNames.has(upper) || reservedPrefixes.some((prefix) => upper.startsWith(prefix))
    ? `${name} affects how scripts run and is not passed on; use another name`
    : null;
}
