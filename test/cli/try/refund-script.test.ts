import { describe, expect, it } from 'vitest';
import { scriptFor } from '../../../src/cli/try/message-parts.ts';
import { findOrder } from '../../../src/cli/try/orders.ts';

const orders = `order_id,customer,item,amount,status,refund_id
A-1001,Hugo Novák,Bath towel,19.90,delivered,
A-1002,"Korhonen, Aino","Lamp 10"" brass",89.90,refunded,R-1
`;

describe('findOrder', () => {
  it('reads quoted fields', () => {
    expect(findOrder(orders, 'A-1002')).toEqual({
      id: 'A-1002',
      amount: '89.90',
      status: 'refunded',
      refundId: 'R-1',
      row: 'A-1002,"Korhonen, Aino","Lamp 10"" brass",89.90,refunded,R-1',
    });
  });

  it('returns nothing for an unknown order', () => {
    expect(findOrder(orders, 'A-100')).toBeNull();
  });
});

describe('scriptFor', () => {
  it('refunds the paid amount of the named order', () => {
    expect(scriptFor('refund a-1001 please', orders)).toEqual([
      { tool: 'lookup_order', args: { order_id: 'A-1001' } },
      {
        tool: 'issue_refund',
        args: { order_id: 'A-1001', amount: '19.90', reason: 'refund a-1001 please' },
      },
      { say: 'Order A-1001 is refunded. {result}' },
    ]);
  });

  it('lets the tool report an unknown order', () => {
    expect(scriptFor('refund A-9999', orders)).toEqual([
      { tool: 'lookup_order', args: { order_id: 'A-9999' } },
    ]);
  });

  it('echoes anything else', () => {
    expect(scriptFor('hello', orders)).toEqual([{ say: 'echo: hello' }]);
  });
});
