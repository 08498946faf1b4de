// TODO (about 3 lines): exp(cap(x) - cap(m)), and 0 when x is -INFINITY. This class caps scores
// softly: x counts as cap(x) = SOFT_CAP * tanh(x / SOFT_CAP). m stays the largest of the scores
// themselves; the cap changes no order.
// Hint: a masked score has no weight, but what is cap(-INFINITY)?
return 0.0f;
