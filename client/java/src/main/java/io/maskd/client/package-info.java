/**
 * A client of maskd, which turns grammars into token masks for engines of language models.
 *
 * <p>{@link io.maskd.client.MaskdClient} compiles and checks grammars and opens streams;
 * {@link io.maskd.client.MaskStream} gives a mask for each row and decode step;
 * {@link io.maskd.client.FailoverStream} is one over several servers that outlives them.
 */
package io.maskd.client;
