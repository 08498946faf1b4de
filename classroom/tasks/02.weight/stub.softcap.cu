// Your class, in about 3 lines: exp(cap(x) - cap(m)) with cap(x) = SOFT_CAP * tanh(x / SOFT_CAP),
// and 0 when x is -INFINITY, for what is its cap? m stays the largest of the scores themselves.
