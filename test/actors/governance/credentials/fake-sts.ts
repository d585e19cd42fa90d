import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';

/** What a request to the token service said. */
export interface StsRequest {
  method: string | undefined;
  authorization: string;
  securityToken: string | undefined;
  parameters: Record<string, string>;
}

/** What the service answers; one that `hangs` never ends. */
interface StsAnswer {
  status: number;
  body: string;
  hangs?: boolean;
}

/**
 * A token service on loopback; an answer of `null` never comes. `arrived` resolves with the first request
 * that was dealt with, `closed` when the connection of one ends.
 */
export async function fakeSts(answer: (count: number) => StsAnswer | null) {
  const requests: StsRequest[] = [];
  const arrived = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parameters = Object.fromEntries(new URLSearchParams(await text(request)));
    const { authorization = '', 'x-amz-security-token': securityToken } = request.headers;
    requests.push({
      method: request.method,
      authorization,
      securityToken: securityToken as string | undefined,
      parameters,
    });
    response.on('close', () => closed.resolve());
    const given = answer(requests.length);
    if (given) {
      response.writeHead(given.status, { 'content-type': 'text/xml' });
      if (given.hangs) response.write(given.body);
      else response.end(given.body);
    }
    arrived.resolve();
  };
  const server = createServer((request, response) => void serve(request, response));
  return {
    url: await listenOnLoopback(server),
    requests,
    arrived: arrived.promise,
    closed: closed.promise,
  };
}

/** What AssumeRole answers. */
export function assumedRole(
  values: { key: string; secret: string; token: string },
  expiration: string,
): string {
  return `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleResult>
    <AssumedRoleUser>
      <AssumedRoleId>AROA:session</AssumedRoleId>
      <Arn>arn:aws:sts::999999999999:assumed-role/refunds/session</Arn>
    </AssumedRoleUser>
    <Credentials>
      <AccessKeyId>${values.key}</AccessKeyId>
      <SecretAccessKey>${values.secret}</SecretAccessKey>
      <SessionToken>${values.token}</SessionToken>
      <Expiration>${expiration}</Expiration>
    </Credentials>
  </AssumeRoleResult>
  <ResponseMetadata><RequestId>c6104cbe-af31-11e0-8154-cbc7ccf896c7</RequestId></ResponseMetadata>
</AssumeRoleResponse>`;
}

/** How the service refuses. */
export function refusal(code: string, message: string): string {
  return `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error>
  <RequestId>c6104cbe-af31-11e0-8154-cbc7ccf896c7</RequestId>
</ErrorResponse>`;
}
