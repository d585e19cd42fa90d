import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { ForwardingHandler } from './forwarding-handler.ts';

/** Removes the content coding of an empty response, which a decoder would treat as truncated. */
export class EmptyBodyHandler extends ForwardingHandler {
  override onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
    statusMessage?: string,
  ): void {
    const { 'content-encoding': _, ...bare } = headers;
    const shownHeaders = headers['content-length'] === '0' ? bare : headers;
    super.onResponseStart(controller, statusCode, shownHeaders, statusMessage);
  }
}
