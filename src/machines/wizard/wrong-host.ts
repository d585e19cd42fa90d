const advice = 'write a host such as api.example.com, *.example.com or api.example.com:8443';

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Returns why a string is not a host for the egress list; `null` if it is. Stricter than the list itself: IP addresses
 * are left to the author of `service.yaml`, where private and public ones are distinguished.
 */
export function wrongHost(text: string): string | null {
  const [, host = '', port = ''] =
    /^(?:\*\.)?([^:]+)(?::(\d{1,5}))?$/.exec(text.toLowerCase()) ?? [];
  const labels = host.split('.');
  const isName = host.length <= 253 && labels.every((each) => label.test(each));
  const isPort = port === '' || (Number(port) >= 1 && Number(port) <= 65_535);
  // A URL parser treats a name that ends in a number as an IPv4 address.
  const isAddress = /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '');
  return isName && isPort && !isAddress ? null : `this is no host name; ${advice}`;
}
