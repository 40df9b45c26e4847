#!/bin/sh
# The project's test.
price=$(sh ./price.sh 3 4)
if [ "$price" -ne 12 ]; then
    echo "3 apples at 4 cost 12, but price.sh says $price"
    exit 1
fi
