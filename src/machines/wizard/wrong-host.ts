const advice = 'write a host such as api.example.com, *.example.com or api.example.com:8443';

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Says in words why a text is no host that the list of egress takes, or `null`. It is narrower than the list: addresses
 * are left to whoever edits `service.yaml`, where private ones are told from public ones.
 */
export function wrongHost(text: string): string | null {
  const [, host = '', port = ''] =
    /^(?:\*\.)?([^:]+)(?::(\d{1,5}))?$/.exec(text.toLowerCase()) ?? [];
  const labels = host.split('.');
  const isName = host.length <= 253 && labels.every((each) => label.test(each));
  const isPort = port === '' || (Number(port) >= 1 && Number(port) <= 65_535);
  // A URL takes a name that ends in a number for an address.
  const isAddress = /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '');
  return isName && isPort && !isAddress ? null : `this is no host name; ${advice}`;
}
