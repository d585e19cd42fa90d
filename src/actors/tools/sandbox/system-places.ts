/** Folders of programs and libraries that a sandbox shows, each a folder or a link into `/usr`. */
export const programFolders = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/**
 * Parts of `/etc` for finding libraries and verifying certificates. Certificate folders are listed individually, since
 * private keys lie next to them that a daemon running as root could read.
 */
export const systemFiles = [
  ...['ssl/certs', 'ssl/cert.pem', 'ssl/openssl.cnf', 'ca-certificates'],
  ...['pki/ca-trust', 'pki/java', 'pki/tls/certs', 'pki/tls/cert.pem', 'pki/tls/openssl.cnf'],
  ...['alternatives', 'ld.so.cache'],
].map((name) => `/etc/${name}`);

/** Files of `/etc` that the sandbox replaces by its own. */
export const replacedFiles = ['passwd', 'group', 'hosts'].map((name) => `/etc/${name}`);

/** Devices of the sandbox, which equal those of the machine. `/dev/shm` is one of its own. */
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'stdin', 'stdout', 'fd'].map(
  (name) => `/dev/${name}`,
);

/** What a sandbox shows of the machine outside the agent's folder. */
export const systemPlaces: readonly string[] = [
  ...['/usr', '/proc'],
  ...devices,
  ...programFolders,
  ...systemFiles,
  ...replacedFiles,
];
