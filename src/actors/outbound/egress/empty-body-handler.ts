import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { ForwardingHandler } from './forwarding-handler.ts';

/** Takes the coding off an answer whose body is empty: a decoder takes nothing for something that was cut off. */
export class EmptyBodyHandler extends ForwardingHandler {
  override onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
    statusMessage?: string,
  ): void {
    const { 'content-encoding': _, ...bare } = headers;
    const told = headers['content-length'] === '0' ? bare : headers;
    super.onResponseStart(controller, statusCode, told, statusMessage);
  }
}
